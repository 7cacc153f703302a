#pragma once

// Guava's funnels: from a key to the bytes that its BloomFilter hashes. A stream does not say which
// funnel wrote it, so whoever reads one must know.
//
// Keys come as text: UTF-8 for the character funnels, decimal digits for the integer ones. UTF-8
// that is not valid is refused where characters matter: it has no equal in Java.
//
// Format: docs/formats/guava.md. Tested by: GuavaFunnel.* against vectors captured from Guava.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"

namespace guestlist {

enum class GuavaFunnel : std::uint8_t {
  string,             ///< stringFunnel(UTF_8)
  string_iso_8859_1,  ///< stringFunnel(ISO_8859_1): what it cannot express becomes '?'
  string_utf_16,      ///< stringFunnel(UTF_16): byte order mark, then big-endian units
  unencoded_chars,    ///< unencodedCharsFunnel: little-endian UTF-16 units
  long_integer,       ///< longFunnel: 8 bytes little-endian
  integer,            ///< integerFunnel: 4 bytes little-endian
  bytes,              ///< byteArrayFunnel: the bytes themselves
};

/// `string`, `string-iso-8859-1`, `string-utf-16`, `unencoded-chars`, `long`, `int`, `bytes`.
std::string_view name(GuavaFunnel funnel) noexcept;
std::optional<GuavaFunnel> guava_funnel_from_name(std::string_view name) noexcept;

/// The bytes that Guava would hash for `key`; they lie in `key` or in `buffer`. Errors:
/// `invalid_argument` where the key is no number of the funnel's range, or no valid UTF-8.
Result<std::string_view> funnel(GuavaFunnel funnel, std::string_view key, std::string& buffer);

/// The same for a Java string, which may hold lone surrogates. Requires: a character funnel.
std::string funnel_utf16(GuavaFunnel funnel, std::u16string_view key);

}  // namespace guestlist
