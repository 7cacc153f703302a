#include "guestlist/filter/bit_array.hpp"

#include <bit>
#include <cassert>
#include <cstring>

namespace guestlist {

Result<BitArray> BitArray::make(std::uint64_t bit_count) {
  auto storage = Storage::allocate(storage_bytes(bit_count));
  if (!storage) return fail(std::move(storage).error());
  return BitArray(bit_count, std::move(*storage));
}

Result<BitArray> BitArray::restore(std::uint64_t bit_count, Storage storage) {
  if (bit_count == 0 || storage.size_bytes() != storage_bytes(bit_count)) {
    return fail(Errc::corrupt, "the number of bits does not fit the length of the filter");
  }
  return BitArray(bit_count, std::move(storage));
}

std::uint64_t BitArray::count_set() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at < storage_.size_bytes(); at += 8) {
    count += static_cast<std::uint64_t>(
        std::popcount(load_little_endian<std::uint64_t>(storage_.data() + at)));
  }
  return count;
}

void BitArray::merge(const BitArray& other) noexcept {
  assert(bit_count_ == other.bit_count_);
  std::byte* const to = storage_.mutable_data();
  const std::byte* const from = other.storage_.data();
  for (std::uint64_t at = 0; at < storage_.size_bytes(); ++at) to[at] |= from[at];
}

void BitArray::clear() noexcept {
  std::memset(storage_.mutable_data(), 0, storage_.size_bytes());
}

}  // namespace guestlist
