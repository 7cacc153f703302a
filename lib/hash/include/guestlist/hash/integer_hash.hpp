#pragma once

// Hashing of 64-bit integers for typed filters in one process. Multiply, xor-shift by 32, multiply:
// the cheapest hash that keeps the false positive rate within 2 % of what was asked for sequential,
// strided and structured integers; a single 64x64->128 fold goes up to 2.9 times the asked rate on
// sequential keys. The seed comes in first, by xor. Never for files or shared filters: there a key
// is its canonical bytes.
//
// Cost: 1.2 ns in a loop, and it vectorises. Tested by: IntegerHash.* and the key families of
// filter_test.

#include <cstdint>

#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

struct IntegerHasher {
  static constexpr std::uint64_t first_multiplier = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t second_multiplier = 0xD6E8FEB86659FD93;

  std::uint64_t seed = 0;

  // Always inlined: units for one instruction set must not share a copy with the others.
  [[gnu::always_inline]] constexpr KeyHash operator()(std::uint64_t key) const noexcept {
    std::uint64_t mixed = (key ^ seed) * first_multiplier;
    mixed ^= mixed >> 32;
    mixed *= second_multiplier;
    return KeyHash{mixed ^ (mixed >> 32)};
  }

  friend constexpr bool operator==(const IntegerHasher&, const IntegerHasher&) noexcept = default;
};

}  // namespace guestlist
