#include "core/cuckoo_layer.hpp"

#include <algorithm>

namespace guestlist::server {

Result<CuckooLayer> CuckooLayer::make(std::uint64_t buckets, std::uint32_t bucket_size) {
  auto slots = BitMemory::zeroed(buckets * bucket_size);
  if (!slots) return fail(std::move(slots).error());
  return CuckooLayer(buckets, bucket_size, *std::move(slots));
}

std::uint64_t CuckooLayer::count(const CuckooHash& hash) const noexcept {
  const auto count_in = [&](std::uint64_t place) {
    const std::uint8_t* const slots = bucket(place);
    return static_cast<std::uint64_t>(std::count(slots, slots + bucket_size_, hash.fingerprint));
  };
  return count_in(hash.place) + count_in(hash.other_place);
}

bool CuckooLayer::put_in(std::uint64_t place, std::uint8_t fingerprint) noexcept {
  std::uint8_t* const slots = bucket(place);
  for (std::uint32_t slot = 0; slot < bucket_size_; ++slot) {
    if (slots[slot] != 0) continue;
    slots[slot] = fingerprint;
    return true;
  }
  return false;
}

bool CuckooLayer::remove(const CuckooHash& hash) noexcept {
  for (const std::uint64_t place : {hash.place, hash.other_place}) {
    std::uint8_t* const slots = bucket(place);
    for (std::uint32_t slot = 0; slot < bucket_size_; ++slot) {
      if (slots[slot] != hash.fingerprint) continue;
      slots[slot] = 0;
      return true;
    }
  }
  return false;
}

}  // namespace guestlist::server
