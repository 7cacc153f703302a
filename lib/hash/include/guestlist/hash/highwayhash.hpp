#pragma once

// HighwayHash-128, the hash of Redisson's RBloomFilter. Portable C++ without type punning: the
// packaged library is wrong on its portable path for lengths above 32 that are no multiple of 32.
// Source: "Fast keyed hash/pseudo-random function using SIMD multiply and permute", Alakuijala,
// Cox, Wassenberg, 2016. Tested by: HighwayHash.* for lengths 0 to 300.

#include <array>
#include <cstdint>
#include <string_view>

#include "guestlist/hash/hash128.hpp"

namespace guestlist {

using HighwayKey = std::array<std::uint64_t, 4>;

/// The key that every Redisson uses, lane 0 first.
inline constexpr HighwayKey redisson_highway_key = {0x9E3779B97F4A7C15, 0xF39CC0605CEDC834,
                                                    0x1082276BF3A27251, 0xF86C6A11D0C18E95};

Hash128 highwayhash_128(std::string_view bytes, const HighwayKey& key) noexcept;

}  // namespace guestlist
