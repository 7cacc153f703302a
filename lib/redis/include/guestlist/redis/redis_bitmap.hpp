#pragma once

// A string of Redis as SETBIT and GETBIT see it: bit i is in byte i / 8, counted from the most
// significant, and bits behind the end are 0. So a string is as long as its highest set bit needs,
// and a filter's string is mostly shorter than the filter.
//
// Complexity: `test` constant, `count` linear. Distinct objects: safe. Shared objects: read only.

#include <cstddef>
#include <cstdint>

#include "guestlist/base/bytes.hpp"

namespace guestlist {

constexpr std::uint64_t redis_byte_of_bit(std::uint64_t bit) noexcept {
  return bit >> 3;
}

constexpr std::byte redis_mask_of_bit(std::uint64_t bit) noexcept {
  return std::byte{0x80} >> (bit & 7);
}

class RedisBitmap {
 public:
  /// Requires: `bytes` outlives the bitmap.
  explicit RedisBitmap(ByteView bytes) noexcept : bytes_(bytes) {}

  bool test(std::uint64_t bit) const noexcept {
    const std::uint64_t byte = redis_byte_of_bit(bit);
    return byte < bytes_.size() && (bytes_[byte] & redis_mask_of_bit(bit)) != std::byte{0};
  }

  /// The bits that are set, as BITCOUNT counts them.
  std::uint64_t count() const noexcept;

  /// The place behind the last bit that is set; 0 where none is.
  std::uint64_t end() const noexcept;

  ByteView bytes() const noexcept { return bytes_; }

 private:
  ByteView bytes_;
};

}  // namespace guestlist
