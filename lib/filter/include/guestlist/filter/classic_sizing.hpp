#pragma once

// The sizing of filters that may set any bit of their array (classic and counting Bloom filters),
// as pure functions that invert each other. With n items, m bits and k probes the rate is the mean
// of the share of set bits to the power of k. The share has mean and variance
//
//   s = 1 - (1 - 1/m)^(k n),  v = ((1 - 1/m)^(k n) - (1 - 2/m)^(k n)) / m
//                                 + (1 - 2/m)^(k n) - (1 - 1/m)^(2 k n)
//
// and fpr = s^k exp(k (k - 1) / 2 * v / s^2): never below the exact rate, 0.2 % above it for 10
// keys at 0.1 %. The textbook's (1 - exp(-k n / m))^k is its limit for large arrays.
//
// Source: Bloom 1970; Bose and others 2008; docs/maths/classic.md. Tested by: ClassicSizing.*

#include <cstdint>

namespace guestlist {

struct ClassicSize {
  std::uint64_t bits = 0;    ///< m
  std::uint32_t probes = 0;  ///< k
  friend constexpr bool operator==(const ClassicSize&, const ClassicSize&) noexcept = default;
};

/// The smallest array that holds `items` at `fpr`, with the best number of probes.
/// Complexity: some ten evaluations of classic_fpr.
/// Requires: items > 0, 0 < fpr < 1.
ClassicSize classic_size(std::uint64_t items, double fpr);

/// The false positive rate of an array with `items` in it.
double classic_fpr(const ClassicSize& size, std::uint64_t items);

/// The most items for which the array stays at or below `fpr`.
std::uint64_t classic_capacity(const ClassicSize& size, double fpr);

/// The number of distinct items that most likely set `bits_set` of the array's bits.
std::uint64_t classic_count(const ClassicSize& size, std::uint64_t bits_set);

}  // namespace guestlist
