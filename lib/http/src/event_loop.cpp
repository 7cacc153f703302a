#include "event_loop.hpp"

#include <algorithm>

#include "connection.hpp"

namespace guestlist::http {

using namespace std::chrono_literals;

EventLoop::~EventLoop() = default;

EventLoop::Clock::duration EventLoop::shortest_timeout() const {
  const HttpServerOptions& options = server_->options;
  return std::clamp(std::min({options.idle_timeout, options.header_timeout, options.request_timeout,
                              options.answer_timeout, options.write_timeout}),
                    std::chrono::milliseconds(40), std::chrono::milliseconds(4000));
}

void EventLoop::run() {
  tick();
  context_.run();
}

void EventLoop::tick() {
  if (is_over_) return;
  now_ = Clock::now();
  for (const auto& connection : connections()) connection->check_time(now_);
  timer_.expires_at(now_ + tick_);
  timer_.async_wait([this](const boost::system::error_code& code) {
    if (!code) tick();
  });
}

void EventLoop::end() {
  post([this] {
    is_over_ = true;
    timer_.cancel();
  });
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
}

void EventLoop::add(std::shared_ptr<Connection> connection) {
  connections_.insert(std::move(connection));
}
void EventLoop::remove(const std::shared_ptr<Connection>& connection) {
  connections_.erase(connection);
}
std::vector<std::shared_ptr<Connection>> EventLoop::connections() const {
  return {connections_.begin(), connections_.end()};
}

}  // namespace guestlist::http
