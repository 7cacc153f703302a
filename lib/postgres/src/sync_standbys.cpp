#include "sync_standbys.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace guestlist::postgres {
namespace {

bool is_equal_without_case(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

/// A number, a name with or without quotes, or one character; empty at the end.
std::string take_word(std::string_view& text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  std::string word;
  if (text.empty()) return word;
  if (text.front() == '"') {
    text.remove_prefix(1);
    while (!text.empty()) {
      const char c = text.front();
      text.remove_prefix(1);
      if (c == '"' && !text.starts_with('"')) break;
      if (c == '"') text.remove_prefix(1);
      word += c;
    }
    return word;
  }
  constexpr std::string_view ends = " \t\r\n,()\"";
  const std::size_t length =
      std::max<std::size_t>(1, std::min(text.find_first_of(ends), text.size()));
  word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

}  // namespace

SyncStandbys SyncStandbys::parse(std::string_view setting) {
  SyncStandbys parsed;
  // What stands before a parenthesis is method and number; without one all are names.
  const std::size_t open = setting.find('(');
  if (open != std::string_view::npos) {
    std::string_view head = setting.substr(0, open);
    for (std::string word = take_word(head); !word.empty(); word = take_word(head)) {
      if (is_equal_without_case(word, "any")) parsed.method = Method::any;
      std::from_chars(word.data(), word.data() + word.size(), parsed.wanted);
    }
    setting.remove_prefix(open + 1);
  }
  for (std::string word = take_word(setting); !word.empty(); word = take_word(setting)) {
    if (word != "," && word != ")") parsed.names.push_back(std::move(word));
  }
  return parsed;
}

bool SyncStandbys::holds(std::string_view application_name) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == "*" || is_equal_without_case(name, application_name);
  });
}

}  // namespace guestlist::postgres
