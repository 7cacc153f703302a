#pragma once

// How many inserts changed something, for a filter's shape. Informative, so every order is relaxed;
// on a cache line of its own, so that counting writers do not slow the readers of what stands
// beside it.

#include <atomic>
#include <cstdint>

namespace guestlist {

/// Distinct objects: safe. Shared objects: reading and `add_concurrently` from any thread; `add`
/// from one.
class InsertCounter {
 public:
  InsertCounter() noexcept = default;
  explicit InsertCounter(std::uint64_t count) noexcept : count_(count) {}
  InsertCounter(const InsertCounter& other) noexcept : count_(other.count()) {}
  InsertCounter& operator=(const InsertCounter& other) noexcept {
    count_.store(other.count(), std::memory_order_relaxed);
    return *this;
  }
  ~InsertCounter() = default;

  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Cheaper than add_concurrently: no locked instruction.
  void add(std::uint64_t changes) noexcept {
    count_.store(count() + changes, std::memory_order_relaxed);
  }
  void add_concurrently(std::uint64_t changes) noexcept {
    count_.fetch_add(changes, std::memory_order_relaxed);
  }
  void reset() noexcept { count_.store(0, std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<std::uint64_t> count_{0};
};

}  // namespace guestlist
