#pragma once

// Bytes as the formats of guestlist use them: views, fixed-endian loads and stores that accept any
// alignment, and hexadecimal text.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace guestlist {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
requires std::is_unsigned_v<T>
constexpr T byte_swap(T value) noexcept {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

/// Requires: `sizeof(T)` readable bytes at `from`.
template <class T>
requires std::is_unsigned_v<T> T load_little_endian(const void* from)
noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swap(value);
}

template <class T>
requires std::is_unsigned_v<T> T load_big_endian(const void* from)
noexcept {
  return byte_swap(load_little_endian<T>(from));
}

/// Requires: `sizeof(T)` writable bytes at `to`.
template <class T>
requires std::is_unsigned_v<T>
void store_little_endian(void* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

template <class T>
requires std::is_unsigned_v<T>
void store_big_endian(void* to, T value) noexcept {
  store_little_endian(to, byte_swap(value));
}

/// Lower-case hexadecimal digits, two a byte.
std::string to_hex(ByteView bytes);

/// Nothing where `text` has an odd length or a character that is no hexadecimal digit.
std::optional<std::vector<std::byte>> from_hex(std::string_view text);

}  // namespace guestlist
