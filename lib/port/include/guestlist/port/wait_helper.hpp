#pragma once

// What a thread can do while it waits for an answer: the work of whoever will answer. Handing a
// call to the thread of an event loop and its answer back wakes two threads, which costs more than
// a short exchange with a server on the same machine; the thread that waits may run the loop
// instead.
//
// An implementation offers itself while a call begins; `wait_for` takes the offer.

#include <functional>
#include <memory>
#include <utility>

namespace guestlist {

class WaitHelper {
 public:
  virtual ~WaitHelper() = default;
  /// Works in this thread until `is_over`. May return earlier, for instance at once where another
  /// thread does the work already; whoever waits then waits.
  virtual void help(const std::function<bool()>& is_over) = 0;
  /// Makes `help` look at `is_over` again. From any thread.
  virtual void wake() = 0;

  /// Whether this thread is in `offered_during` and will help: the first who offers is taken.
  static bool offer(const std::shared_ptr<WaitHelper>& helper) {
    if (offered() == nullptr) return false;
    if (*offered() == nullptr) *offered() = helper;
    return *offered() == helper;
  }
  /// What was offered while `start` ran; null where nothing was.
  template <class Start>
  static std::shared_ptr<WaitHelper> offered_during(Start&& start) {
    std::shared_ptr<WaitHelper> taken;
    const Place place(&taken);
    std::forward<Start>(start)();
    return taken;
  }

 private:
  /// Where an offer of this thread goes.
  class Place {
   public:
    explicit Place(std::shared_ptr<WaitHelper>* here) : former_(std::exchange(offered(), here)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { offered() = former_; }

   private:
    std::shared_ptr<WaitHelper>* const former_;
  };
  static std::shared_ptr<WaitHelper>*& offered() {
    static thread_local std::shared_ptr<WaitHelper>* place = nullptr;
    return place;
  }
};

}  // namespace guestlist
