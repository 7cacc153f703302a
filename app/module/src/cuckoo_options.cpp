#include "cuckoo_options.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include "settings.hpp"

namespace guestlist::server {
namespace {

struct NumberOption {
  const char* word;
  const char* not_a_number;
  const char* out_of_range;
  long long least;
  long long most;
  long long CuckooWish::*value;
};

constexpr std::array<NumberOption, 3> number_options = {{
    {"MAXITERATIONS", "Couldn't parse MAXITERATIONS",
     "MAXITERATIONS: value must be in the range [1, 65535]", 1, 65535, &CuckooWish::max_iterations},
    {"BUCKETSIZE", "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]",
     1, 255, &CuckooWish::bucket_size},
    {"EXPANSION", "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]", 0,
     Settings::max_expansion, &CuckooWish::expansion},
}};

/// Null, or the sentence of the refusal.
const char* set_option(const NumberOption& option, Arguments options, CuckooWish& wish) {
  for (std::size_t at = 0; at < options.size(); ++at) {
    if (!is_word(view(options[at]), option.word)) continue;
    long long& value = wish.*option.value;
    if (at + 1 == options.size() || api::string_to_long_long(options[at + 1], &value) != ok)
      return option.not_a_number;
    return value < option.least || value > option.most ? option.out_of_range : nullptr;
  }
  return nullptr;
}

const char* check_capacity(const CuckooWish& wish, const char* least) {
  const long long most = settings().max_capacity;
  if (wish.capacity >= 2 * wish.bucket_size && wish.capacity <= most) return nullptr;
  static char text[96];
  std::snprintf(text, sizeof text, "Capacity must be in the range [%s, %lld]", least, most);
  return text;
}

char first_letter(std::string_view text) {
  return text.empty() ? '\0' : static_cast<char>(text.front() | 0x20);
}

}  // namespace

const char* parse_cuckoo_reserve(Arguments arguments, CuckooWish& wish) {
  if (api::string_to_long_long(arguments[2], &wish.capacity) != ok) return "Bad capacity";
  for (const NumberOption& option : number_options) {
    if (const char* const refused = set_option(option, arguments.subspan(3), wish)) return refused;
  }
  return check_capacity(wish, "2 * BUCKETSIZE");
}

CuckooInsertOptions parse_cuckoo_insert(Arguments arguments) {
  CuckooInsertOptions options;
  options.wish = default_cuckoo_wish();
  std::size_t at = 2;
  for (; at < arguments.size(); ++at) {
    const char letter = first_letter(view(arguments[at]));
    if (letter == 'i') break;
    if (letter == 'n') {
      options.may_create = false;
    } else if (letter == 'c') {
      if (++at == arguments.size()) break;
      if (api::string_to_long_long(arguments[at], &options.wish.capacity) != ok) {
        options.error = "Bad capacity";
      } else {
        options.error = check_capacity(options.wish, "cf-bucket-size * 2");
      }
    } else {
      options.error = "Unknown argument received";
    }
    if (options.error != nullptr) return options;
  }
  options.first_item = at + 1;
  options.is_arity_wrong = options.first_item >= arguments.size();
  return options;
}

}  // namespace guestlist::server
