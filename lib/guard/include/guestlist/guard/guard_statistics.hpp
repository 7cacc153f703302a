#pragma once

// What a guard has seen since it began, an event at a time. Counts only go up; a reading is not one
// instant over all of them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace guestlist {

enum class GuardEvent : std::uint8_t {
  request,
  maybe,
  absent,
  unknown,
  rejected,
  would_reject,         ///< proven absent beyond the budget, but not enforced
  audit,                ///< proven absent, passed within the budget
  null_hit,             ///< answered by the null cache
  value_hit,            ///< answered by the value cache
  joined,               ///< waited for a load that another caller led
  load,                 ///< an attempt to load from the source began
  failed_load,          ///< an attempt failed or took too long
  false_positive,       ///< `maybe`, and the source had nothing
  false_negative,       ///< `absent`, and the key exists; repaired. Must stay 0.
  refused_null,         ///< a null whose lease was void
  overloaded,           ///< a caller was refused by a limit
  deadline,             ///< a caller's time was over
  failed_invalidation,  ///< the value cache did not confirm a drop
};

inline constexpr std::size_t guard_event_count = 18;

/// The word for an event in output, JSON and metrics.
std::string_view name(GuardEvent event) noexcept;

class GuardStatistics {
 public:
  std::uint64_t operator[](GuardEvent event) const noexcept {
    return counts_[static_cast<std::size_t>(event)];
  }
  /// Of several guards together.
  GuardStatistics& operator+=(const GuardStatistics& other) noexcept {
    for (std::size_t index = 0; index < guard_event_count; ++index) {
      counts_[index] += other.counts_[index];
    }
    return *this;
  }

 private:
  friend class GuardCounters;
  std::array<std::uint64_t, guard_event_count> counts_{};
};

/// Distinct objects: safe. Shared objects: safe, without locks.
class GuardCounters {
 public:
  void add(GuardEvent event) noexcept {
    // Nothing is published with a count, so relaxed order is enough.
    counts_[static_cast<std::size_t>(event)].fetch_add(1, std::memory_order_relaxed);
  }
  GuardStatistics read() const noexcept {
    GuardStatistics statistics;
    for (std::size_t index = 0; index < guard_event_count; ++index) {
      statistics.counts_[index] = counts_[index].load(std::memory_order_relaxed);
    }
    return statistics;
  }

 private:
  std::array<std::atomic<std::uint64_t>, guard_event_count> counts_{};
};

}  // namespace guestlist
