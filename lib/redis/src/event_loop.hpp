#pragma once

// One event loop on which everything of a RedisClient happens, so that nothing there needs a lock.
//
// It has a thread of its own. While calls block and nothing else is on its way, the thread that
// waits runs the loop instead (WaitHelper), and the loop's own thread rests: it takes the loop back
// some milliseconds after the last such call, or at once where somebody posts who does not wait.
// One thread at a time runs the loop; "the loop's thread" is whichever does.
//
// Distinct objects: safe. Shared objects: `post` and `helper` from any thread, all else on the
// loop's thread.

#include <functional>
#include <memory>

#include "guestlist/base/clock.hpp"
#include "guestlist/port/wait_helper.hpp"

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

  /// `helps`: the calling thread took `helper` and will soon run the loop itself.
  void post(Task task, bool helps = false);
  std::shared_ptr<WaitHelper> helper() const noexcept;
  /// A call of a thread that waits was the last that was on its way: the next is likely to come
  /// soon and to run the loop itself.
  void rest();
  /// Runs `task` after `delay`, unless what is returned was let go before.
  [[nodiscard]] std::shared_ptr<void> after(Duration delay, Task task);
  bool is_here() const noexcept;
  /// Whether the loop's thread is one that waits. On the loop's thread.
  bool is_helped() const noexcept;

  struct Asio;
  /// The library's own loop, for the unit that opens sockets.
  Asio& asio() noexcept { return *asio_; }

 private:
  std::shared_ptr<Asio> asio_;  ///< the thread keeps it too
};

}  // namespace guestlist::redis
