#pragma once

// An array of bits over Storage, for filters that may set any bit: bit i is bit i mod 8, counted
// from the least significant, of byte i / 8.
//
// Distinct objects: safe. Shared objects: any number of readers, or one writer.

#include <cstdint>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/storage.hpp"

namespace guestlist {

class BitArray {
 public:
  /// All clear. Errors: as Storage::allocate.
  static Result<BitArray> make(std::uint64_t bit_count);
  /// Around bits that exist. Errors: `corrupt` where `storage` has not `storage_bytes(bit_count)`
  /// bytes.
  static Result<BitArray> restore(std::uint64_t bit_count, Storage storage);
  /// Whole 64-byte lines.
  static constexpr std::uint64_t storage_bytes(std::uint64_t bit_count) noexcept {
    return (bit_count / 512 + (bit_count % 512 != 0)) * 64;
  }

  std::uint64_t bit_count() const noexcept { return bit_count_; }
  const Storage& storage() const noexcept { return storage_; }

  /// Requires: `index` < bit_count(), here and below.
  bool test(std::uint64_t index) const noexcept {
    return (storage_.data()[index >> 3] & mask(index)) != std::byte{0};
  }
  /// Whether the bit was clear before.
  bool set(std::uint64_t index) noexcept {
    std::byte& byte = storage_.mutable_data()[index >> 3];
    const bool was_clear = (byte & mask(index)) == std::byte{0};
    byte |= mask(index);
    return was_clear;
  }
  /// Complexity: one pass over the bits.
  std::uint64_t count_set() const noexcept;
  /// Requires: the same bit_count.
  void merge(const BitArray& other) noexcept;
  void clear() noexcept;

 private:
  BitArray(std::uint64_t bit_count, Storage storage) noexcept
      : bit_count_(bit_count), storage_(std::move(storage)) {}
  static constexpr std::byte mask(std::uint64_t index) noexcept {
    return std::byte{1} << (index & 7);
  }

  std::uint64_t bit_count_;
  Storage storage_;
};

}  // namespace guestlist
