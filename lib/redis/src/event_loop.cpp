#include "event_loop.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "event_loop_asio.hpp"

namespace guestlist::redis {

void EventLoop::Asio::run() {
  std::unique_lock lock(mutex);
  while (!ending) {
    if (is_helped || SteadyClock().now() < rest_until) {
      changed.wait_for(lock, rest_span);
      continue;
    }
    runner = std::this_thread::get_id();
    lock.unlock();
    context.run_one();
    lock.lock();
    runner = std::thread::id();
  }
}

void EventLoop::Asio::help(const std::function<bool()>& is_over) {
  {
    const std::lock_guard lock(mutex);
    if (ending || runner != std::thread::id()) {
      return;
    }
    is_helped = true;
    runner = std::this_thread::get_id();
    rest_until = {};
  }
  while (!is_over() && context.run_one() > 0) {
  }
  const std::lock_guard lock(mutex);
  is_helped = false;
  runner = std::thread::id();
  if (ending || rest_until == TimePoint{}) {
    changed.notify_all();
  }
}

void EventLoop::Asio::wake() {
  if (!is_run_here()) {
    boost::asio::post(context, [] {});
  }
}

void EventLoop::Asio::end_rest() {
  const std::lock_guard lock(mutex);
  rest_until = {};
  changed.notify_all();
}

/// Returns once no other thread runs the loop.
void EventLoop::Asio::end() {
  context.stop();
  std::unique_lock lock(mutex);
  ending = true;
  changed.notify_all();
  changed.wait(lock, [&] { return !is_helped || is_run_here(); });
}

EventLoop::EventLoop() : asio_(std::make_shared<Asio>()) {
  asio_->thread = std::thread([asio = asio_] { asio->run(); });
}

EventLoop::~EventLoop() {
  asio_->end();
  if (std::this_thread::get_id() == asio_->thread.get_id()) {
    asio_->thread.detach();
  } else {
    asio_->thread.join();
  }
}

void EventLoop::post(Task task, bool helps) {
  boost::asio::post(asio_->context, std::move(task));
  if (!helps) {
    asio_->end_rest();
  }
}

std::shared_ptr<WaitHelper> EventLoop::helper() const noexcept {
  return asio_;
}

void EventLoop::rest() {
  const std::lock_guard lock(asio_->mutex);
  asio_->rest_until = SteadyClock().now() + Asio::rest_span;
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
  return asio_->is_run_here();
}

bool EventLoop::is_helped() const noexcept {
  return asio_->is_helped;
}

}  // namespace guestlist::redis
