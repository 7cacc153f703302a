#pragma once

#include <cstdint>

namespace guestlist {

/// The two halves of a 128-bit hash, in the order in which the formats that use one name them.
struct Hash128 {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  friend constexpr bool operator==(const Hash128&, const Hash128&) noexcept = default;
};

}  // namespace guestlist
