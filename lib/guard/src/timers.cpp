#include "guestlist/guard/timers.hpp"

#include <utility>
#include <vector>

namespace guestlist {

void Timers::at(TimePoint when, Call call) {
  const std::lock_guard lock(mutex_);
  const auto added = calls_.emplace(when, std::move(call));
  if (added == calls_.begin()) changed_.notify_one();
}

void Timers::run_due(TimePoint now) {
  std::vector<Call> due;
  {
    const std::lock_guard lock(mutex_);
    const auto end = calls_.upper_bound(now);
    for (auto at = calls_.begin(); at != end; ++at) due.push_back(std::move(at->second));
    calls_.erase(calls_.begin(), end);
  }
  for (const Call& call : due) call();
}

bool Timers::wait_for_due() {
  std::unique_lock lock(mutex_);
  if (closed_) return false;
  if (calls_.empty()) {
    changed_.wait(lock);
  } else {
    const TimePoint due = calls_.begin()->first;
    changed_.wait_until(lock, due);
  }
  return !closed_;
}

void Timers::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

TimerThread::TimerThread(Timers& timers)
    : timers_(timers), thread_([this] {
        const SteadyClock clock;
        while (timers_.wait_for_due()) timers_.run_due(clock.now());
      }) {}

TimerThread::~TimerThread() {
  timers_.close();
  thread_.join();
}

}  // namespace guestlist
