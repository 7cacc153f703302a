#pragma once

// The hash slot of a key in a Redis Cluster. Source: Redis Cluster specification, "Key distribution
// model" (CRC16-XMODEM of the hash tag, modulo 16384). Pure functions.

#include <cstdint>
#include <string_view>

namespace guestlist {

inline constexpr std::uint16_t key_slots = 16384;

/// What a Cluster hashes of a key: what stands between its first `{` and the next `}`, where that
/// is not empty; else the whole key.
std::string_view hash_tag(std::string_view key) noexcept;

/// In [0, key_slots).
std::uint16_t key_slot(std::string_view key) noexcept;

}  // namespace guestlist
