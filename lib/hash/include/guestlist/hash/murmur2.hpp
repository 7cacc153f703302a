#pragma once

// MurmurHash2 in its 64-bit form for 64-bit machines ("64A") and its 32-bit form: the hashes of the
// filters that the BF.* and CF.* commands of others write. Not keyed: whoever knows the seed can
// craft collisions. Only for formats that prescribe them; header-only, since a batch of keys spends
// a third of its time here.
//
// Source: Austin Appleby's description of MurmurHash2. Tested by: Murmur2.* and the captured
// filters of bloom_chain_test.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "guestlist/base/bytes.hpp"

namespace guestlist {

constexpr std::uint64_t murmur2_64_mix(std::uint64_t word) noexcept {
  constexpr std::uint64_t multiplier = 0xC6A4A7935BD1E995;
  word *= multiplier;
  word ^= word >> 47;
  return word * multiplier;
}

inline std::uint64_t murmur2_64(std::string_view bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t multiplier = 0xC6A4A7935BD1E995;
  std::uint64_t hash = seed ^ (bytes.size() * multiplier);
  const char* at = bytes.data();
  const char* const last_word = at + (bytes.size() & ~std::size_t{7});
  for (; at != last_word; at += 8) {
    hash = (hash ^ murmur2_64_mix(load_little_endian<std::uint64_t>(at))) * multiplier;
  }
  if (const std::size_t rest = bytes.size() & 7; rest != 0) {
    std::uint64_t word = 0;
    for (std::size_t i = rest; i-- > 0;) word = word << 8 | static_cast<unsigned char>(at[i]);
    hash = (hash ^ word) * multiplier;
  }
  hash = (hash ^ (hash >> 47)) * multiplier;
  return hash ^ (hash >> 47);
}

inline std::uint32_t murmur2_32(std::string_view bytes, std::uint32_t seed) noexcept {
  constexpr std::uint32_t multiplier = 0x5BD1E995;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(bytes.size());
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 4; at += 4, left -= 4) {
    std::uint32_t word = load_little_endian<std::uint32_t>(at) * multiplier;
    word ^= word >> 24;
    hash = hash * multiplier ^ word * multiplier;
  }
  if (left != 0) {
    for (std::size_t i = left; i-- > 0;) {
      hash ^= std::uint32_t{static_cast<unsigned char>(at[i])} << (8 * i);
    }
    hash *= multiplier;
  }
  hash = (hash ^ (hash >> 13)) * multiplier;
  return hash ^ (hash >> 15);
}

}  // namespace guestlist
