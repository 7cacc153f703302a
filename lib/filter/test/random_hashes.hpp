#pragma once

// Hashes as a strong hash would give them, from a seed that a failing test can print.

#include <cstdint>
#include <random>
#include <vector>

#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

inline std::vector<KeyHash> random_hashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<KeyHash> hashes(count);
  for (KeyHash& hash : hashes) hash.value = random();
  return hashes;
}

}  // namespace guestlist
