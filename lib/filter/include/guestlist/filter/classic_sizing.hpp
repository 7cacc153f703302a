#pragma once

// The sizing of filters that may set any bit of their array (classic and counting Bloom filters),
// as pure functions that invert each other. With n items, m bits and k probes:
//
//   fpr = (1 - (1 - 1/m)^(k n))^k, here with exp(-k n / m), which differs by less than 1e-6 from m
//   = 1,000 up
//
// Source: Bloom 1970; the mathematics and its limits are in docs/maths/classic.md. Tested by:
// ClassicSizing.*

#include <cstdint>

namespace guestlist {

struct ClassicSize {
  std::uint64_t bits = 0;    ///< m
  std::uint32_t probes = 0;  ///< k
  friend constexpr bool operator==(const ClassicSize&, const ClassicSize&) noexcept = default;
};

/// The smallest array that holds `items` at `fpr`, with the best number of probes.
/// Requires: items > 0, 0 < fpr < 1.
ClassicSize classic_size(std::uint64_t items, double fpr);

/// The false positive rate of an array with `items` in it.
double classic_fpr(const ClassicSize& size, std::uint64_t items);

/// The most items for which the array stays at or below `fpr`.
std::uint64_t classic_capacity(const ClassicSize& size, double fpr);

/// The number of distinct items that most likely set `bits_set` of the array's bits.
std::uint64_t classic_count(const ClassicSize& size, std::uint64_t bits_set);

}  // namespace guestlist
