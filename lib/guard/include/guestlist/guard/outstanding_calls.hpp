#pragma once

// Counts the calls that others still owe us, so that whoever they would call back can wait for the
// last one before it goes away.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace guestlist {

/// Distinct objects: safe. Shared objects: safe. Tokens must not outlive it.
class OutstandingCalls {
 public:
  /// One call that is owed; goes along with the completion, copies included.
  class Token {
   public:
    explicit Token(OutstandingCalls& calls) noexcept : calls_(&calls) { enter(); }
    Token(const Token& other) noexcept : calls_(other.calls_) { enter(); }
    Token& operator=(const Token&) = delete;
    // Release: what the call did happens before wait_for_all returns.
    ~Token() { calls_->count_.fetch_sub(1, std::memory_order_release); }

   private:
    void enter() noexcept { calls_->count_.fetch_add(1, std::memory_order_relaxed); }
    OutstandingCalls* calls_;
  };

  Token token() noexcept { return Token(*this); }

  /// Polls: it is for destructors, where nothing may be touched after the last token went.
  void wait_for_all() const noexcept {
    while (count_.load(std::memory_order_acquire) != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::atomic<std::size_t> count_{0};
};

}  // namespace guestlist
