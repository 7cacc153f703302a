#pragma once

// What the law suites of the ports share: deadlines, a record of how a completion was called, and
// the losses of a connection.
//
// The form of a real thing that is behind a connection has a gate between client and server:
//
//     void hold_replies();  requests arrive and have their effect, and their replies wait
//     void cut();           every open connection is lost, and with it what waits; new ones are
//                           accepted
//     void heal();          what waits goes, and nothing waits any more

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "guestlist/base/clock.hpp"

namespace guestlist::laws {

/// Longer than any answer takes, also on a machine that does other work under a sanitizer.
inline constexpr Duration patience = std::chrono::seconds(30);

inline Deadline in_time() {
  return Deadline::after(patience, SteadyClock());
}

inline Deadline already_past() {
  return Deadline::after(std::chrono::seconds(-1), SteadyClock());
}

/// Every value that a completion was called with.
///
/// Distinct objects: safe. Shared objects: safe. The completion may be called when this is gone.
template <class Value>
class Replies {
 public:
  std::function<void(Value)> completion() const {
    return [record = record_](Value value) {
      const std::lock_guard lock(record->mutex);
      record->values.push_back(std::move(value));
      record->arrived.notify_all();
    };
  }

  /// The first one; nothing where none came in all our patience.
  std::optional<Value> first() const {
    std::unique_lock lock(record_->mutex);
    if (!record_->arrived.wait_for(lock, patience, [&] { return !record_->values.empty(); }))
      return std::nullopt;
    return record_->values.front();
  }

  std::size_t count() const {
    const std::lock_guard lock(record_->mutex);
    return record_->values.size();
  }

 private:
  struct Record {
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<Value> values;
  };
  std::shared_ptr<Record> record_ = std::make_shared<Record>();
};

/// Leaves a call that has a short deadline without its reply until that deadline is past.
template <class Form, class Start>
auto answer_late(Form& form, Start start) {
  form.hold_replies();
  auto replies = start(Deadline::after(std::chrono::milliseconds(20), SteadyClock()));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  return replies;
}

/// Loses the connection when the call has had its effect and before its reply.
template <class Form, class Start>
auto lose_reply(Form& form, Start start) {
  form.hold_replies();
  auto replies = start(in_time());
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  form.cut();
  form.heal();
  return replies;
}

/// Whether `holds` came true within our patience: after a loss a connection needs time to come
/// back.
template <class Condition>
bool eventually(Condition holds) {
  const Deadline deadline = in_time();
  while (!deadline.is_past(SteadyClock().now())) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// Runs `body(number)` on four threads at once.
template <class Body>
void on_four_threads(Body body) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&body, number] { body(number); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace guestlist::laws
