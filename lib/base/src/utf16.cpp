#include "guestlist/base/utf16.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace guestlist {
namespace {

/// Takes one code point from the front; nothing where the bytes are not valid UTF-8.
std::optional<char32_t> take_code_point(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return std::nullopt;
  char32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    point = point << 6 | (byte & 0x3F);
  }
  constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  if (point < smallest[length] || point > 0x10FFFF || is_surrogate(point)) return std::nullopt;
  text.remove_prefix(length);
  return point;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) noexcept {
  std::string_view rest = text;
  while (!rest.empty() && take_code_point(rest)) {
  }
  return text.size() - rest.size();
}

Result<std::u16string> utf16_from_utf8(std::string_view utf8) {
  std::u16string units;
  units.reserve(utf8.size());
  std::string_view rest = utf8;
  while (!rest.empty()) {
    const auto point = take_code_point(rest);
    if (!point) {
      return fail(Errc::invalid_argument,
                  fmt::format("the text is not valid UTF-8 at byte {}", utf8.size() - rest.size()));
    }
    if (*point < 0x10000) {
      units += static_cast<char16_t>(*point);
    } else {
      units += static_cast<char16_t>(0xD800 + ((*point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((*point - 0x10000) & 0x3FF));
    }
  }
  return units;
}

void append_utf8(std::string& out, char32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  const int length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  constexpr std::array<unsigned, 5> lead = {0, 0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(lead[static_cast<std::size_t>(length)] | point >> (6 * (length - 1)));
  for (int shift = 6 * (length - 2); shift >= 0; shift -= 6) {
    out += static_cast<char>(0x80 | (point >> shift & 0x3F));
  }
}

std::string utf8_from_utf16(std::u16string_view units) {
  std::string bytes;
  bytes.reserve(units.size());
  for_each_character(units, [&bytes](char32_t point) {
    append_utf8(bytes, is_surrogate(point) ? char32_t{'?'} : point);
  });
  return bytes;
}

}  // namespace guestlist
