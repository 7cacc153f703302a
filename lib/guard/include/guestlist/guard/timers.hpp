#pragma once

// Calls that are due at a time. The list itself has no thread: whoever owns it says when to run
// what is due: a TimerThread in production, the test itself under a ManualClock.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "guestlist/base/clock.hpp"

namespace guestlist {

/// Distinct objects: safe. Shared objects: safe; calls run outside of the lock.
class Timers {
 public:
  using Call = std::function<void()>;

  void at(TimePoint when, Call call);
  /// Runs and removes every call that is due, earliest first.
  void run_due(TimePoint now);
  /// Sleeps until a call is due, the list changes, or `close` was called. False: closed.
  bool wait_for_due();
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<TimePoint, Call> calls_;
  bool closed_ = false;
};

/// Runs what is due on the machine's monotonic clock, on a thread of its own, for as long as it
/// lives.
class TimerThread {
 public:
  explicit TimerThread(Timers& timers);
  ~TimerThread();
  TimerThread(const TimerThread&) = delete;
  TimerThread& operator=(const TimerThread&) = delete;

 private:
  Timers& timers_;
  std::thread thread_;
};

}  // namespace guestlist
