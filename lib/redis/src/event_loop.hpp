#pragma once

// One thread on which everything of a RedisClient happens, so that nothing there needs a lock.
//
// Distinct objects: safe. Shared objects: `post` from any thread, all else on the loop's thread.

#include <functional>
#include <memory>

#include "guestlist/base/clock.hpp"

namespace guestlist::redis {

class EventLoop {
 public:
  using Task = std::function<void()>;

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  /// Tasks that have not begun are dropped. On the loop's own thread the thread ends by itself,
  /// soon after.
  ~EventLoop();

  void post(Task task);
  /// Runs `task` after `delay`, unless what is returned was let go before.
  [[nodiscard]] std::shared_ptr<void> after(Duration delay, Task task);
  bool is_here() const noexcept;

  struct Asio;
  /// The library's own loop, for the unit that opens sockets.
  Asio& asio() noexcept { return *asio_; }

 private:
  std::shared_ptr<Asio> asio_;  ///< the thread keeps it too
};

}  // namespace guestlist::redis
