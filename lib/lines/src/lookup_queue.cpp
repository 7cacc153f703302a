#include "lookup_queue.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

namespace guestlist::lines {

void LookupQueue::add(std::string_view key, Deadline deadline,
                      Completion<std::optional<std::string>> done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < state_->options.max_waiting_loads) {
      waiting_.push_back({std::string(key), deadline, std::move(done)});
      arrived_.notify_one();
      return;
    }
  }
  done(fail(Errc::overloaded, "too many lookups are waiting for the file"));
}

void LookupQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Lookup lookup = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    lookup.done(answer(lookup));
    lock.lock();
  }
}

void LookupQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
}

Result<std::optional<std::string>> LookupQueue::answer(const Lookup& lookup) {
  Error why{make_error_code(Errc::deadline_exceeded),
            fmt::format("'{}' was not read in time", state_->watch.path())};
  while (!lookup.deadline.is_past(state_->clock.now())) {
    const auto content = state_->refresh();
    if (content && content->is_whole) {
      if (content->index->contains(state_->fingerprint(lookup.key))) return lookup.key;
      return std::nullopt;
    }
    if (!content) why = content.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(why);
}

}  // namespace guestlist::lines
