#pragma once

// MurmurHash3 x64 128 with seed 0, the hash of Guava's BloomFilter. Not keyed: whoever knows the
// keys can craft collisions. Only for formats that prescribe it. Source: libmurmurhash. Tested by:
// Murmur3.* against vectors captured from Guava.

#include <string_view>

#include "guestlist/hash/hash128.hpp"

namespace guestlist {

/// Requires: fewer than 2^32 bytes.
Hash128 murmur3_x64_128(std::string_view bytes) noexcept;

}  // namespace guestlist
