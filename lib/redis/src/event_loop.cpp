#include "event_loop.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "event_loop_asio.hpp"

namespace guestlist::redis {

EventLoop::EventLoop() : asio_(std::make_shared<Asio>()) {
  asio_->thread = std::thread([asio = asio_] { asio->context.run(); });
}

EventLoop::~EventLoop() {
  asio_->context.stop();
  if (is_here()) {
    asio_->thread.detach();
  } else {
    asio_->thread.join();
  }
}

void EventLoop::post(Task task) {
  boost::asio::post(asio_->context, std::move(task));
}

std::shared_ptr<void> EventLoop::after(Duration delay, Task task) {
  auto timer = std::make_shared<boost::asio::steady_timer>(asio_->context, delay);
  timer->async_wait([task = std::move(task)](boost::system::error_code error) {
    if (!error) {
      task();
    }
  });
  return timer;
}

bool EventLoop::is_here() const noexcept {
  return std::this_thread::get_id() == asio_->thread.get_id();
}

}  // namespace guestlist::redis
