#pragma once

// One value of a configuration file, and what it may be. Each reader refuses what it cannot take
// with the place in the file, what was found there and what is expected.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service_config.hpp"

namespace guestlist {

class ConfigValue {
 public:
  enum class Kind : std::uint8_t { text, integer, number, flag, list, other };

  Kind kind = Kind::other;
  std::string content = {};  ///< of a text; of anything else as it stands in the file
  std::int64_t integer = 0;
  double number = 0;
  bool flag = false;
  std::vector<ConfigValue> items = {};
  std::string name = {};  ///< of the field
  ConfigPlace place = {};

  Result<void> read(std::string& into) const;
  Result<void> read(bool& into) const;
  /// A text or a list of texts.
  Result<void> read(std::vector<std::string>& into) const;
  Result<void> read(std::uint64_t& into, std::uint64_t least, std::uint64_t most) const;
  Result<void> read(double& into, double least, double most) const;
  template <class Number>
  Result<void> read_as(Number& into, std::uint64_t least, std::uint64_t most) const {
    std::uint64_t wide = 0;
    auto read_it = read(wide, least, most);
    if (read_it) into = static_cast<Number>(wide);
    return read_it;
  }
  /// `500ms`, `3s`, `5min`, `24h`; a bare number is seconds.
  Result<void> read(Duration& into, Duration least) const;
  /// `64MiB`, `4GiB`; a bare number is bytes.
  Result<void> read_bytes(std::uint64_t& into) const;
  template <class T>
  Result<void> read_word(T& into, const std::vector<std::pair<std::string_view, T>>& words) const {
    for (const auto& [word, value] : words) {
      if (kind != Kind::text || content != word) continue;
      into = value;
      return {};
    }
    std::string expected;
    for (const auto& [word, value] : words)
      expected += (expected.empty() ? "\"" : ", \"") + std::string(word) + '"';
    return refuse("one of " + expected);
  }

  /// `place: name = … is not …`.
  tl::unexpected<Error> refuse(const std::string& expected) const;
};

/// The one of `known` that is nearest to `word`; empty where none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

/// `${NAME}` and `${NAME:-fallback}` become the environment's values; `$$` is a `$`. Errors:
/// `invalid_argument` where a variable is not set, with its name.
Result<std::string> substitute_environment(std::string_view text);

}  // namespace guestlist
