#include "bloom_insert_options.hpp"

#include <cstring>

#include "settings.hpp"

namespace guestlist::server {
namespace {

constexpr std::size_t seed_bytes = 32;

bool starts(std::string_view text, std::size_t at, char letter) {
  return text.size() > at && (text[at] | 0x20) == letter;
}

/// One option with its value, or a flag.
enum class Option {
  items,
  error,
  expansion,
  capacity,
  no_create,
  fixed,
  seed,
  tightening,
  scale_to,
  unknown
};

Option option_of(std::string_view text) {
  if (is_word(text, "SEED")) return Option::seed;
  if (is_word(text, "TIGHTENING")) return Option::tightening;
  if (is_word(text, "VALIDATESCALETO")) return Option::scale_to;
  if (starts(text, 0, 'i')) return Option::items;
  if (starts(text, 0, 'e')) return starts(text, 1, 'r') ? Option::error : Option::expansion;
  if (starts(text, 0, 'c')) return Option::capacity;
  if (starts(text, 0, 'n')) return starts(text, 2, 'c') ? Option::no_create : Option::fixed;
  return Option::unknown;
}

/// The sentence of the refusal, or null.
const char* set_option(InsertOptions& options, Option option, String* value) {
  BloomWish& wish = options.wish;
  switch (option) {
    case Option::error:
      if (api::string_to_double(value, &wish.error_rate) != ok ||
          !(wish.error_rate > 0 && wish.error_rate < 1))
        return "Bad error rate";
      wish.error_rate = std::min(wish.error_rate, Settings::max_error_rate);
      return nullptr;
    case Option::expansion:
      if (api::string_to_long_long(value, &wish.expansion) != ok || wish.expansion < 0 ||
          wish.expansion > Settings::max_expansion)
        return "Bad expansion";
      if (wish.expansion == 0) wish.is_scaling = false;
      return nullptr;
    case Option::capacity:
      if (api::string_to_long_long(value, &wish.capacity) != ok || wish.capacity < 1 ||
          wish.capacity > settings().max_capacity)
        return "Bad capacity";
      wish.has_capacity = true;
      return nullptr;
    case Option::tightening:
      if (api::string_to_double(value, &wish.tightening) != ok) return "ERR bad tightening ratio";
      if (!(wish.tightening > 0 && wish.tightening < 1))
        return "ERR (0 < tightening ratio range < 1)";
      return nullptr;
    case Option::seed: {
      const std::string_view text = view(value);
      if (text.size() != seed_bytes) return "ERR invalid seed";
      std::array<std::byte, Secret::size> secret;
      for (std::size_t i = 0; i < secret.size(); ++i)
        secret[i] =
            static_cast<std::byte>(text[i]) ^ static_cast<std::byte>(text[i + secret.size()]);
      options.secret = Secret(secret);
      return nullptr;
    }
    case Option::scale_to:
      if (api::string_to_long_long(value, &options.scale_to) != ok || options.scale_to < 1)
        return "ERR bad capacity";
      return nullptr;
    case Option::items:
    case Option::no_create:
    case Option::fixed:
    case Option::unknown:
      break;
  }
  return "Unknown argument received";
}

}  // namespace

InsertOptions parse_insert_options(Arguments arguments) {
  InsertOptions options;
  options.wish = default_wish();
  bool may_be_empty = false;
  std::size_t at = 2;
  for (; at < arguments.size(); ++at) {
    const Option option = option_of(view(arguments[at]));
    if (option == Option::items) break;
    if (option == Option::no_create) {
      options.may_create = false;
      continue;
    }
    if (option == Option::fixed) {
      options.wish.is_scaling = false;
      continue;
    }
    if (option == Option::unknown) {
      options.error = "Unknown argument received";
      return options;
    }
    may_be_empty |=
        option == Option::seed || option == Option::tightening || option == Option::scale_to;
    if (++at == arguments.size()) {
      options.is_arity_wrong = true;
      return options;
    }
    if ((options.error = set_option(options, option, arguments[at])) != nullptr) return options;
  }
  // Who uses the options of valkey-bloom may leave the items out, as there, to make a filter only.
  options.first_item = std::min(at + 1, arguments.size());
  options.is_arity_wrong = options.first_item == arguments.size() && !may_be_empty;
  if (options.scale_to != 0 && !options.wish.is_scaling)
    options.error = "ERR cannot use NONSCALING and VALIDATESCALETO options together";
  return options;
}

const char* check_scale_to(const BloomWish& wish, long long items, Context* context) {
  ChainPlan plan;
  plan.fpr = wish.error_rate;
  plan.capacity = static_cast<std::uint64_t>(wish.capacity);
  plan.growth = static_cast<std::uint32_t>(wish.expansion);
  plan.tightening = wish.tightening;
  plan.first_share = 1 - wish.tightening;
  const MemoryLimit limit = memory_limit(context);
  std::uint64_t capacity = plan.capacity;
  std::uint64_t bytes = 0;
  NativeLayerShape layer = layer_after(plan, static_cast<const NativeLayerShape*>(nullptr), 0);
  for (std::size_t index = 1;; ++index) {
    if (limit.ask(bytes, layer.size_bytes()) != MemoryLimit::Answer::yes)
      return "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
    bytes += layer.size_bytes();
    if (capacity >= static_cast<std::uint64_t>(items)) return nullptr;
    const NativeLayerShape next = layer_after(plan, &layer, index);
    if (next.size_bytes() == 0 || next.fpr <= NativeLayer::min_fpr ||
        index >= NativeChain::max_layers)
      return "ERR provided VALIDATESCALETO causes false positive to degrade to 0";
    layer = next;
    capacity += layer.capacity;
  }
}

const char* creation_error(const Error& error) noexcept {
  if (error.code == Errc::overloaded) return "ERR operation exceeds bloom object memory limit";
  return "ERR Insufficient memory to create filter";
}

}  // namespace guestlist::server
