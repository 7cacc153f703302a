#pragma once

// Time as guestlist uses it. Leases, deadlines and budgets run on monotonic time, so a jump of the
// wall clock changes no verdict. Policy takes a TimePoint as a value and never asks for the time
// itself; shells ask a Clock, and tests give them one that they move by hand.

#include <atomic>
#include <chrono>

namespace guestlist {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// Distinct objects: safe. Shared objects: `now` may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const noexcept = 0;

 protected:
  Clock() = default;
  Clock(const Clock&) = default;
  Clock& operator=(const Clock&) = default;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
};

/// A clock that stands still until it is moved; it never goes back.
class ManualClock final : public Clock {
 public:
  TimePoint now() const noexcept override {
    return TimePoint(Duration(elapsed_.load(std::memory_order_acquire)));
  }
  void advance(Duration by) noexcept { elapsed_.fetch_add(by.count(), std::memory_order_acq_rel); }

 private:
  std::atomic<Duration::rep> elapsed_{Duration(std::chrono::hours(1)).count()};
};

/// The moment at which a caller stops waiting. Every operation that can wait takes one.
struct Deadline {
  TimePoint at = TimePoint::max();

  static constexpr Deadline never() noexcept { return {}; }
  static Deadline after(Duration span, const Clock& clock) noexcept { return {clock.now() + span}; }
  constexpr bool is_past(TimePoint now) const noexcept { return now >= at; }
};

}  // namespace guestlist
