#pragma once

// The read and write path around a database: the filter is asked first, then the caches, and the
// source last, by one caller a key.
//
//   read   verdict -> null cache -> value cache -> one flight a key -> source -> fill
//   write  add to the filter, then commit, then drop value and null
//
// A key that exists is never answered absent or not found: whatever cannot be proven passes to the
// source, and a null that was read before a write is refused. Above the budget proven absents are
// rejected before anything else is touched.
//
// A failure of filter or cache costs time, not answers: they have a short time of their own, after
// which the guard goes on without them. A failure of the source is the caller's error.
//
// Bounded: flights, waiters, null cache. Distinct objects: safe. Shared objects: safe. Ports
// outlive the guard; its destructor waits until every port has called back. Cost: `guard/*` of
// guard_bench. Tested by: Guard.*, GuardUnderLoad.*

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/base/verdict.hpp"
#include "guestlist/guard/budget.hpp"
#include "guestlist/guard/decision.hpp"
#include "guestlist/guard/flights.hpp"
#include "guestlist/guard/guard_statistics.hpp"
#include "guestlist/guard/null_cache.hpp"
#include "guestlist/guard/outstanding_calls.hpp"
#include "guestlist/guard/timers.hpp"
#include "guestlist/port/membership.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/port/value_cache.hpp"

namespace guestlist {

struct GuardOptions {
  Mode mode = Mode::enforce;
  std::uint32_t enforced_percent = 100;
  /// Absent keys a second that pass and are checked against the source.
  std::uint32_t budget_per_second = 50;
  std::uint64_t null_cache_bytes = std::uint64_t{16} << 20;
  Duration null_time_to_live = std::chrono::seconds(60);
  Duration value_time_to_live = std::chrono::minutes(30);
  /// Values live this share longer or shorter, at random, so that they do not expire together.
  double time_to_live_jitter = 0.1;
  Duration check_timeout = std::chrono::milliseconds(50);
  Duration cache_timeout = std::chrono::milliseconds(50);
  Duration load_timeout = std::chrono::seconds(2);
  FlightLimits flights;
  /// The value cache is shared with other processes: it keeps the nulls too, so that a key which
  /// another process creates is found here at once, and it is asked together with the filter, so
  /// that both travel in one round trip where both are behind one connection.
  bool is_cache_shared = false;
  /// A write goes on where there is no filter at all. Only for a membership whose builders wait for
  /// writes that are open.
  bool write_without_filter = false;
  /// Called when the filter denied a key that exists, after it was repaired. From any thread.
  std::function<void(std::string_view key)> on_false_negative;
  /// False: the owner calls `run_timers`, as tests with a ManualClock do.
  bool own_timer_thread = true;
};

struct Lookup {
  enum class Outcome : std::uint8_t { found, not_found, rejected };
  enum class Origin : std::uint8_t { filter, null_cache, value_cache, source };

  Outcome outcome = Outcome::not_found;
  Origin origin = Origin::source;
  Verdict verdict;
  std::string value;  ///< where found

  bool found() const noexcept { return outcome == Outcome::found; }
};

class Guard {
 public:
  Guard(GuardOptions options, Membership& membership, ValueCache& cache, Source& source,
        const Clock& clock);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Answers by the deadline. Errors: `deadline_exceeded`; `overloaded` where a limit is reached;
  /// the source's error where it failed twice.
  void get(std::string_view key, Deadline deadline, Completion<Lookup> done);
  Result<Lookup> get(std::string_view key, Deadline deadline);

  /// Adds the keys to the filter, calls `commit`, and drops what the caches hold of them. `commit`
  /// is not called where the add failed. Errors: of the add, or of `commit`.
  Result<void> write(std::span<const std::string_view> keys,
                     const std::function<Result<void>()>& commit, Deadline deadline);
  Result<void> write(std::string_view key, const std::function<Result<void>()>& commit,
                     Deadline deadline);
  /// The last part of a write alone, for keys that something else wrote or removed.
  void invalidate(std::string_view key, Deadline deadline, Completion<void> done);

  void set_mode(Mode mode) noexcept { mode_.store(mode, std::memory_order_relaxed); }
  Mode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
  GuardStatistics statistics() const { return counters_.read(); }
  std::uint64_t null_cache_bytes() const { return nulls_.size_bytes(); }
  /// Ends what is overdue; only where `own_timer_thread` is false.
  void run_timers() { timers_.run_due(clock_.now()); }

 private:
  struct Operation;
  using OperationPointer = std::shared_ptr<Operation>;
  struct Attempt {
    std::string key;
    std::uint64_t flight;
    std::uint32_t number;
  };

  void ask_filter(const OperationPointer& operation);
  void on_verdict(const OperationPointer& operation, Verdict verdict);
  bool admits(const OperationPointer& operation);
  void ask_cache(const OperationPointer& operation);
  void on_cached(const OperationPointer& operation, std::optional<std::string> cached);
  void use_cached(const OperationPointer& operation);
  void answer_null(const OperationPointer& operation);
  void on_both(const OperationPointer& operation);
  void board_flight(const OperationPointer& operation);
  void begin_attempt(const Attempt& attempt);
  void load(const Attempt& attempt, NullCache::Lease lease);
  void on_loaded(const Attempt& attempt, NullCache::Lease lease,
                 Result<std::optional<std::string>> loaded);
  void on_attempt_over(const Attempt& attempt, const Error& error);
  void fill(const std::string& key, NullCache::Lease lease,
            const std::optional<std::string>& value);
  /// A cache that did not confirm a drop is asked again until it does.
  void invalidate_again(const std::string& key, TimePoint until);
  void repair_if_denied(const OperationPointer& operation);
  void finish(const OperationPointer& operation, Result<Lookup> result);
  Deadline sooner(Deadline deadline, Duration span) const;
  Duration jittered_time_to_live();

  const GuardOptions options_;
  Membership& membership_;
  ValueCache& cache_;
  Source& source_;
  const Clock& clock_;

  std::atomic<Mode> mode_;
  Budget budget_;
  NullCache nulls_;
  Flights<OperationPointer> flights_;
  GuardCounters counters_;
  std::atomic<std::uint64_t> jitter_state_;

  OutstandingCalls outstanding_;
  Timers timers_;
  std::optional<TimerThread> timer_thread_;
};

}  // namespace guestlist
