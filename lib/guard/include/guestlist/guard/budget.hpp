#pragma once

// How many absent keys a second pass all the same. Rejecting is only worth its risk under attack:
// on a normal day every absent key stays within the budget, passes, is checked against the source,
// and so audits the filter; above the budget proven absents are rejected.
//
// A token bucket that holds one second's worth, kept as the time at which the bucket will be full
// again. Pure: time is a value. Distinct objects: safe. Shared objects: safe, without a lock.
// Source: the generic cell rate algorithm, ITU-T I.371.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "guestlist/base/clock.hpp"

namespace guestlist {

class Budget {
 public:
  /// 0: nothing passes.
  explicit Budget(std::uint32_t keys_per_second) noexcept
      : interval_(keys_per_second == 0
                      ? 0
                      : Duration(std::chrono::seconds(1)).count() / keys_per_second) {}

  /// Takes one key from the budget; false where it is spent.
  bool take(TimePoint now) noexcept {
    if (interval_ == 0) return false;
    const Duration::rep moment = now.time_since_epoch().count();
    Duration::rep full_at = full_at_.load(std::memory_order_relaxed);
    while (true) {
      const Duration::rep next = std::max(full_at, moment) + interval_;
      if (next - moment > Duration(std::chrono::seconds(1)).count()) return false;
      // Only the number itself is shared; nothing else is published with it, so relaxed order is
      // enough.
      if (full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) return true;
    }
  }

 private:
  Duration::rep interval_;  ///< nanoseconds a key
  std::atomic<Duration::rep> full_at_{0};
};

}  // namespace guestlist
