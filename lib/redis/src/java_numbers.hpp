#pragma once

// Numbers as Java computes and prints them, where a format depends on it.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace guestlist {

/// As Double.toString: `0.01`, `1.0E-4`, `0.0`. Requires: `value` is finite.
std::string java_double_text(double value);

/// As the cast of a double to `Integer`: towards zero, saturating, 0 for what is no number.
template <class Integer>
Integer java_cast(double value) noexcept {
  using Limits = std::numeric_limits<Integer>;
  // The largest value itself may have no double; the power of two above it always has.
  constexpr double limit = -static_cast<double>(Limits::min());
  if (std::isnan(value)) return 0;
  if (value >= limit) return Limits::max();
  if (value < -limit) return Limits::min();
  return static_cast<Integer>(value);
}

/// As Math.round: halves go up.
inline std::int64_t java_round(double value) noexcept {
  return java_cast<std::int64_t>(std::floor(value + 0.5));
}

}  // namespace guestlist
