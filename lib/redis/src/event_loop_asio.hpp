#pragma once

// The library behind EventLoop. Dear to compile: for the units that open sockets and no others.

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "event_loop.hpp"

namespace guestlist::redis {

struct EventLoop::Asio final : WaitHelper {
  /// How long the loop's own thread leaves the loop to threads that wait. Timers, and servers that
  /// hang up, are noticed so much later; each look costs a wake-up.
  static constexpr Duration rest_span = std::chrono::milliseconds(5);

  /// Of the loop's own thread.
  void run();
  void help(const std::function<bool()>& is_over) override;
  void wake() override;
  void end_rest();
  void end();
  bool is_run_here() const noexcept { return runner == std::this_thread::get_id(); }

  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;
  /// Of the thread that runs the loop, none while it rests. Changes under the mutex.
  std::atomic<std::thread::id> runner{};

  std::mutex mutex;
  std::condition_variable changed;
  TimePoint rest_until{};
  bool is_helped = false;
  bool ending = false;
};

}  // namespace guestlist::redis
