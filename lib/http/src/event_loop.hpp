#pragma once

// One thread, its connections and its one timer.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "guestlist/http/http_server.hpp"

namespace guestlist::http {

class Connection;

/// What all loops of a server share.
struct ServerState {
  HttpServerOptions options;
  HttpServer::Handler handler;
  HttpServer::FastHandler fast;
  std::atomic<bool> is_stopping = false;
  std::atomic<std::size_t> connections = 0;
  std::mutex mutex;
  std::condition_variable has_emptied;

  void count_out() {
    if (connections.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::lock_guard lock(mutex);
    has_emptied.notify_all();
  }
};

class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit EventLoop(std::shared_ptr<ServerState> server)
      : server_(std::move(server)), timer_(context_), tick_(shortest_timeout() / 4) {}
  ~EventLoop();

  boost::asio::io_context& context() noexcept { return context_; }
  ServerState& server() noexcept { return *server_; }
  /// When `timeout` will certainly be over; as of the last tick, so that no request pays for a
  /// clock.
  Clock::time_point after(Clock::duration timeout) const noexcept { return now_ + tick_ + timeout; }
  bool is_own_thread() { return context_.get_executor().running_in_this_thread(); }

  void run();

  /// From any thread. Nothing runs after `end`: what is posted to a context that nobody runs would
  /// hold its connection, and that the context, for ever.
  template <class Action>
  void post(Action action) {
    const std::lock_guard lock(mutex_);
    if (!has_ended_) boost::asio::post(context_, std::move(action));
  }
  void end();

  // On the loop's own thread.
  void add(std::shared_ptr<Connection> connection);
  void remove(const std::shared_ptr<Connection>& connection);
  std::vector<std::shared_ptr<Connection>> connections() const;

 private:
  Clock::duration shortest_timeout() const;
  void tick();

  std::shared_ptr<ServerState> server_;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer timer_;
  const Clock::duration tick_;
  Clock::time_point now_ = Clock::now();
  bool is_over_ = false;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  std::mutex mutex_;
  bool has_ended_ = false;
};

}  // namespace guestlist::http
