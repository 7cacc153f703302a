#pragma once

// Hashing of 64-bit integers for typed filters in one process: multiply, xor-shift by 32, add the
// seed, multiply, xor-shift again. It keeps the false positive rate within 3 % of what was asked
// for twelve families of sequential, strided and structured integers under every seed tried, and it
// vectorises. One 64x64->128 fold goes up to 2.9 times the asked rate on sequential keys. With the
// seed xored or added to the key instead, keys shifted by 40 bits go up to 1.4 times: it breaks
// their regular spacing.
//
// The seed tells filters apart and is no secret: who knows some keys' answers can find others'.
// Never for files or shared filters: there a key is its canonical bytes.
//
// Cost: about a nanosecond in a loop, half of it in a batch. Tested by: the key families of
// FprLaw.*.

#include <cstdint>

#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

struct IntegerHasher {
  static constexpr std::uint64_t first_multiplier = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t second_multiplier = 0xD6E8FEB86659FD93;

  std::uint64_t seed = 0;

  // Always inlined: units for one instruction set must not share a copy with the others.
  [[gnu::always_inline]] constexpr KeyHash operator()(std::uint64_t key) const noexcept {
    std::uint64_t mixed = key * first_multiplier;
    mixed = ((mixed ^ (mixed >> 32)) + seed) * second_multiplier;
    return KeyHash{mixed ^ (mixed >> 32)};
  }

  friend constexpr bool operator==(const IntegerHasher&, const IntegerHasher&) noexcept = default;
};

}  // namespace guestlist
