#pragma once

// When to try again after failures in a row: at once after the first, then after a time that
// doubles up to a limit, less a random part, so that many clients do not come back in step. Pure;
// time is a value.

#include <algorithm>
#include <cstdint>
#include <random>

#include "guestlist/base/clock.hpp"

namespace guestlist::redis {

class Backoff {
 public:
  static constexpr Duration first_wait = std::chrono::milliseconds(20);
  static constexpr Duration longest_wait = std::chrono::seconds(2);

  bool may_try(TimePoint now) const noexcept { return now >= next_; }
  void succeeded() noexcept { *this = Backoff(); }
  void failed(TimePoint now) {
    std::uniform_real_distribution<double> part(0.5, 1.0);
    next_ = now + std::chrono::duration_cast<Duration>(wait_ * part(random()));
    wait_ = std::min(wait_ * 2, longest_wait);
  }

 private:
  static std::minstd_rand& random() {
    thread_local std::minstd_rand engine(std::random_device{}());
    return engine;
  }

  TimePoint next_{};
  Duration wait_ = first_wait;
};

}  // namespace guestlist::redis
