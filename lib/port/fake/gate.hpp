#pragma once

// The ugly half of an operation, for fakes: replies can be held back and let go later, fail, or get
// lost after the effect has happened.

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "guestlist/base/result.hpp"

namespace guestlist::fake {

/// Distinct objects: safe. Shared objects: safe.
class Gate {
 public:
  enum class Arrives : bool { no, yes };
  using Reply = std::function<void(Arrives)>;

  /// From now on replies wait until `release`.
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  /// Lets all held replies go, in order, on the calling thread.
  void release() {
    std::deque<Reply> waiting;
    {
      const std::lock_guard lock(mutex_);
      held_ = false;
      waiting.swap(waiting_);
    }
    for (auto& reply : waiting) reply(Arrives::yes);
  }
  /// What is held is lost: the callers hear of a failure, after the effect. Later ones are held on.
  void lose_waiting() {
    std::deque<Reply> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
    }
    for (auto& reply : waiting) reply(Arrives::no);
  }
  /// Lets the oldest held reply go; false where there is none.
  bool release_one() {
    Reply reply;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      reply = std::move(waiting_.front());
      waiting_.pop_front();
    }
    reply(Arrives::yes);
    return true;
  }
  /// The next `count` operations fail before they have an effect.
  void fail_next(int count, Errc reason = Errc::unavailable) {
    const std::lock_guard lock(mutex_);
    failing_ = count;
    reason_ = reason;
  }
  /// The next `count` operations have their effect, and their reply says that they failed.
  void lose_next_reply(int count) {
    const std::lock_guard lock(mutex_);
    losing_ = count;
  }
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  /// Used by the fakes: the failure that this operation is to report before any effect.
  std::optional<Error> failure_before() {
    const std::lock_guard lock(mutex_);
    if (failing_ == 0) return std::nullopt;
    --failing_;
    return Error{make_error_code(reason_), "scripted failure"};
  }
  /// Used by the fakes: hands over a reply, or the failure that its loss is.
  template <class T>
  void reply(Result<T> result, std::function<void(Result<T>)> done) {
    reply([result = std::move(result), done = std::move(done)](Arrives arrives) {
      if (arrives == Arrives::yes) {
        done(result);
      } else {
        done(fail(Errc::unavailable, "scripted loss of the reply"));
      }
    });
  }
  void reply(Reply reply) {
    Arrives arrives = Arrives::yes;
    {
      const std::lock_guard lock(mutex_);
      if (held_) {
        waiting_.push_back(std::move(reply));
        return;
      }
      if (losing_ > 0) {
        --losing_;
        arrives = Arrives::no;
      }
    }
    reply(arrives);
  }

 private:
  mutable std::mutex mutex_;
  bool held_ = false;
  int failing_ = 0;
  int losing_ = 0;
  Errc reason_ = Errc::unavailable;
  std::deque<Reply> waiting_;
};

}  // namespace guestlist::fake
