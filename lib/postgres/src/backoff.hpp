#pragma once

// When to connect again after attempts that failed in a row: after a time that doubles up to a
// limit, less a random part, so that many clients do not come back in step. Pure; time is a value.

#include <algorithm>
#include <chrono>
#include <random>

#include "guestlist/base/clock.hpp"

namespace guestlist::postgres {

class Backoff {
 public:
  static constexpr Duration first_wait = std::chrono::milliseconds(50);
  static constexpr Duration longest_wait = std::chrono::seconds(2);

  void succeeded() noexcept { wait_ = first_wait; }
  /// The next moment to try at.
  TimePoint failed(TimePoint now) {
    const TimePoint next = now + std::chrono::duration_cast<Duration>(wait_ * part_(random_));
    wait_ = std::min(wait_ * 2, longest_wait);
    return next;
  }

 private:
  Duration wait_ = first_wait;
  std::minstd_rand random_{std::random_device{}()};
  std::uniform_real_distribution<double> part_{0.5, 1.0};
};

}  // namespace guestlist::postgres
