#pragma once

// Text as Java and JavaScript hold it: sequences of UTF-16 units, in which a surrogate may stand
// alone. Hashes of such text are hashes of its encoded bytes, so every step here is exact.
//
// Source: The Unicode Standard 15, chapter 3.9. Threads: pure functions.

#include <cstddef>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"

namespace guestlist {

constexpr bool is_high_surrogate(char32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool is_low_surrogate(char32_t unit) noexcept {
  return unit >= 0xDC00 && unit < 0xE000;
}
constexpr bool is_surrogate(char32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xE000;
}

/// The number of bytes at the front of `text` that are valid UTF-8; `text.size()` where all are.
/// Overlong forms, surrogates and values above U+10FFFF are not valid.
std::size_t valid_utf8_prefix(std::string_view text) noexcept;

/// Errors: `invalid_argument` where `utf8` is not valid, with the place.
Result<std::u16string> utf16_from_utf8(std::string_view utf8);

/// Appends the UTF-8 form of `point`. A surrogate gets the three bytes that its number would have,
/// which is no UTF-8 and is what Java's modified forms want. Requires: point <= 0x10FFFF.
void append_utf8(std::string& out, char32_t point);

/// As Java's `String.getBytes(UTF_8)`: a surrogate that stands alone becomes a question mark.
std::string utf8_from_utf16(std::u16string_view units);

/// Calls `visit(char32_t)` with each character; a lone surrogate is a character of its own.
template <class Visit>
void for_each_character(std::u16string_view units, Visit visit) {
  for (std::size_t at = 0; at < units.size(); ++at) {
    const char32_t unit = units[at];
    if (is_high_surrogate(unit) && at + 1 < units.size() && is_low_surrogate(units[at + 1])) {
      visit(0x10000 + ((unit - 0xD800) << 10) + (units[at + 1] - 0xDC00U));
      ++at;
    } else {
      visit(unit);
    }
  }
}

}  // namespace guestlist
