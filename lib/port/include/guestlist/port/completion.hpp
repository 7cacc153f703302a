#pragma once

// How an operation that may wait answers: it calls its completion exactly once, from whatever
// thread, perhaps before the call returned. It answers by its deadline or as soon as it can after
// it; whoever cannot wait longer than that keeps time itself and ignores a late answer. An
// operation whose answer was late or lost may still have had its effect, so every effect here is
// one that may safely happen again.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/port/wait_helper.hpp"

namespace guestlist {

template <class T>
using Completion = std::function<void(Result<T>)>;

/// Turns a completion into a blocking call: `start` is given the completion and begins the
/// operation. Returns when it was called; meanwhile this thread may do the work of whoever answers
/// (wait_helper.hpp). Requires: the operation keeps its deadline.
template <class T, class Start>
Result<T> wait_for(Start&& start) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<Result<T>> result;
    std::shared_ptr<WaitHelper> helper;
  };
  // Shared, because the other side may still be inside notify_one when this side has its answer.
  const auto shared = std::make_shared<Shared>();
  auto helper = WaitHelper::offered_during([&] {
    std::forward<Start>(start)(Completion<T>([shared](Result<T> result) {
      const std::lock_guard lock(shared->mutex);
      shared->result.emplace(std::move(result));
      shared->arrived.notify_one();
      if (shared->helper) shared->helper->wake();
    }));
  });
  std::unique_lock lock(shared->mutex);
  const auto is_over = [&] { return shared->result.has_value(); };
  if (helper && !is_over()) {
    shared->helper = std::move(helper);
    lock.unlock();
    shared->helper->help([&] {
      const std::lock_guard look(shared->mutex);
      return is_over();
    });
    lock.lock();
    shared->helper.reset();
  }
  shared->arrived.wait(lock, is_over);
  return std::move(*shared->result);
}

}  // namespace guestlist
