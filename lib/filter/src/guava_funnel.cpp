#include "guestlist/filter/guava_funnel.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <charconv>
#include <utility>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

constexpr std::array names = {
    std::pair{GuavaFunnel::string, std::string_view("string")},
    std::pair{GuavaFunnel::string_iso_8859_1, std::string_view("string-iso-8859-1")},
    std::pair{GuavaFunnel::string_utf_16, std::string_view("string-utf-16")},
    std::pair{GuavaFunnel::unencoded_chars, std::string_view("unencoded-chars")},
    std::pair{GuavaFunnel::long_integer, std::string_view("long")},
    std::pair{GuavaFunnel::integer, std::string_view("int")},
    std::pair{GuavaFunnel::bytes, std::string_view("bytes")},
};

constexpr bool is_high_surrogate(char32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool is_low_surrogate(char32_t unit) noexcept {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Takes one code point from the front; nothing where the bytes are not valid UTF-8 (overlong
/// forms, surrogates and values above U+10FFFF included).
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
  if (point < smallest[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
    return std::nullopt;
  text.remove_prefix(length);
  return point;
}

Result<std::u16string> utf16_of(std::string_view text) {
  std::u16string units;
  units.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto point = take_code_point(rest);
    if (!point) {
      return fail(Errc::invalid_argument,
                  fmt::format("a key is not valid UTF-8 at byte {}; use the funnel bytes for "
                              "keys that are no text",
                              text.size() - rest.size()));
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

// As Java's String.getBytes: what the charset cannot express becomes a question mark. A surrogate
// pair is one character, so it becomes one.
template <class Append>
void for_each_character(std::u16string_view units, Append append) {
  for (std::size_t at = 0; at < units.size(); ++at) {
    const char32_t unit = units[at];
    if (is_high_surrogate(unit) && at + 1 < units.size() && is_low_surrogate(units[at + 1])) {
      append(0x10000 + ((unit - 0xD800) << 10) + (units[at + 1] - 0xDC00U));
      ++at;
    } else {
      append(is_high_surrogate(unit) || is_low_surrogate(unit) ? char32_t{'?'} : unit);
    }
  }
}

template <class Unsigned, class Signed>
Result<std::string_view> little_endian_of(std::string_view key, std::string& buffer,
                                          std::string_view kind) {
  Signed value = 0;
  std::string_view digits = key;
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || end != digits.data() + digits.size()) {
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is no {} of {} bits", key.substr(0, 40), kind, sizeof value * 8));
  }
  buffer.resize(sizeof value);
  store_little_endian(buffer.data(), static_cast<Unsigned>(value));
  return buffer;
}

}  // namespace

std::string_view name(GuavaFunnel funnel) noexcept {
  for (const auto& [known, word] : names) {
    if (known == funnel) return word;
  }
  return "unknown";
}

std::optional<GuavaFunnel> guava_funnel_from_name(std::string_view wanted) noexcept {
  for (const auto& [funnel, word] : names) {
    if (word == wanted) return funnel;
  }
  return std::nullopt;
}

std::string funnel_utf16(GuavaFunnel funnel, std::u16string_view key) {
  std::string bytes;
  switch (funnel) {
    case GuavaFunnel::string:
      for_each_character(key, [&](char32_t point) { append_utf8(bytes, point); });
      break;
    case GuavaFunnel::string_iso_8859_1:
      for_each_character(
          key, [&](char32_t point) { bytes += point < 0x100 ? static_cast<char>(point) : '?'; });
      break;
    case GuavaFunnel::string_utf_16: {
      // Java writes no byte order mark for an empty string, and U+FFFD for a lone surrogate.
      if (!key.empty()) bytes = "\xFE\xFF";
      std::size_t at = 0;
      for_each_character(key, [&](char32_t point) {
        const bool is_pair = point >= 0x10000;
        const bool is_lone = !is_pair && point != key[at];
        for (std::size_t i = 0; i < (is_pair ? 2U : 1U); ++i) {
          const char16_t unit = is_lone ? char16_t{0xFFFD} : key[at + i];
          bytes += static_cast<char>(unit >> 8);
          bytes += static_cast<char>(unit & 0xFF);
        }
        at += is_pair ? 2 : 1;
      });
      break;
    }
    case GuavaFunnel::unencoded_chars:
      for (const char16_t unit : key) {
        bytes += static_cast<char>(unit & 0xFF);
        bytes += static_cast<char>(unit >> 8);
      }
      break;
    case GuavaFunnel::long_integer:
    case GuavaFunnel::integer:
    case GuavaFunnel::bytes:
      assert(false && "not a character funnel");
      break;
  }
  return bytes;
}

Result<std::string_view> funnel(GuavaFunnel funnel, std::string_view key, std::string& buffer) {
  switch (funnel) {
    case GuavaFunnel::bytes:
      return key;
    case GuavaFunnel::long_integer:
      return little_endian_of<std::uint64_t, std::int64_t>(key, buffer, "long integer");
    case GuavaFunnel::integer:
      return little_endian_of<std::uint32_t, std::int32_t>(key, buffer, "integer");
    case GuavaFunnel::string:
    case GuavaFunnel::string_iso_8859_1:
    case GuavaFunnel::string_utf_16:
    case GuavaFunnel::unencoded_chars:
      break;
  }
  const auto units = utf16_of(key);
  if (!units) return fail(units.error());
  // Valid UTF-8 is what Guava would hash already.
  if (funnel == GuavaFunnel::string) return key;
  buffer = funnel_utf16(funnel, *units);
  return buffer;
}

}  // namespace guestlist
