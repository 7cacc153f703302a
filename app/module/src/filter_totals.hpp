#pragma once

// How many filters of a family a server holds, and what is in them: sums that follow every change,
// so that INFO walks nothing.
//
// Threads: safe, for values are freed in the background too; a reader may see half of a change.

#include <atomic>
#include <cstdint>

namespace guestlist::server {

struct FilterCounts {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  ///< of bits or slots
  std::uint64_t layers = 0;
  std::uint64_t items = 0;
  std::uint64_t capacity = 0;
};

class FilterTotals {
 public:
  void replace(const FilterCounts& old, const FilterCounts& now) noexcept {
    change(objects_, old.objects, now.objects);
    change(bytes_, old.bytes, now.bytes);
    change(layers_, old.layers, now.layers);
    change(items_, old.items, now.items);
    change(capacity_, old.capacity, now.capacity);
  }
  FilterCounts read() const noexcept {
    return {objects_.load(relaxed), bytes_.load(relaxed), layers_.load(relaxed),
            items_.load(relaxed), capacity_.load(relaxed)};
  }

 private:
  using Sum = std::atomic<std::uint64_t>;
  static constexpr auto relaxed = std::memory_order_relaxed;

  static void change(Sum& sum, std::uint64_t old, std::uint64_t now) noexcept {
    if (old != now) sum.fetch_add(now - old, relaxed);
  }

  Sum objects_ = 0;
  Sum bytes_ = 0;
  Sum layers_ = 0;
  Sum items_ = 0;
  Sum capacity_ = 0;
};

}  // namespace guestlist::server
