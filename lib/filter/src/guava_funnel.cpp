#include "guestlist/filter/guava_funnel.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <charconv>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/utf16.hpp"

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

Result<std::u16string> utf16_of(std::string_view text) {
  auto units = utf16_from_utf8(text);
  if (units) return units;
  return fail(Errc::invalid_argument,
              units.error().message() + "; use the funnel bytes for keys that are no text");
}

void append_utf16_big_endian(std::string& out, char32_t point) {
  const auto append = [&out](char32_t unit) {
    out += static_cast<char>(unit >> 8);
    out += static_cast<char>(unit & 0xFF);
  };
  if (point >= 0x10000) {
    append(0xD800 + ((point - 0x10000) >> 10));
    append(0xDC00 + ((point - 0x10000) & 0x3FF));
  } else {
    // Java writes U+FFFD for a lone surrogate here, where other charsets get a question mark.
    append(is_surrogate(point) ? char32_t{0xFFFD} : point);
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
      bytes = utf8_from_utf16(key);
      break;
    case GuavaFunnel::string_iso_8859_1:
      for_each_character(
          key, [&](char32_t point) { bytes += point < 0x100 ? static_cast<char>(point) : '?'; });
      break;
    case GuavaFunnel::string_utf_16: {
      // Java writes no byte order mark for an empty string.
      if (!key.empty()) bytes = "\xFE\xFF";
      for_each_character(key, [&](char32_t point) { append_utf16_big_endian(bytes, point); });
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
