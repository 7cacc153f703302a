#pragma once

// The thread that drives the lanes, and the lookups that wait for one.
//
// All but `load` happens on that thread. It sleeps in poll until a lookup arrives, a socket is
// ready, a deadline passes or a lane wants to connect.
//
// Distinct objects: safe. Shared objects: `load` and the counts may be used from any thread.

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "guestlist/port/completion.hpp"
#include "guestlist/postgres/postgres_table.hpp"
#include "lane.hpp"
#include "session_parameters.hpp"

namespace guestlist::postgres {

using Loaded = std::optional<std::string>;

struct LookupLimits {
  std::size_t connections = 0;
  std::size_t waiting = 0;
  std::size_t batch = 0;
  /// After it a connection that does not answer is given up.
  Duration statement{};
};

class LookupLoop {
 public:
  /// Errors: `unavailable` where the system has no more descriptors.
  static Result<std::unique_ptr<LookupLoop>> start(SessionParameters parameters,
                                                   PostgresTable table, LookupLimits limits);
  ~LookupLoop();
  LookupLoop(const LookupLoop&) = delete;
  LookupLoop& operator=(const LookupLoop&) = delete;

  void load(std::string_view key, Deadline deadline, Completion<Loaded> done);

  std::uint64_t lookups() const noexcept { return lookups_.load(std::memory_order_relaxed); }
  std::uint64_t round_trips() const noexcept {
    return round_trips_.load(std::memory_order_relaxed);
  }

 private:
  struct Lookup {
    std::string key;
    Deadline deadline;
    /// Empty once it was called.
    Completion<Loaded> done;
    std::size_t attempts = 0;
    /// In a query of its own, since a query with others failed of somebody's data.
    bool alone = false;

    void answer(Result<Loaded> result);
  };
  using Batch = std::vector<Lookup>;
  struct Member {
    Lane lane;
    Batch asked = {};
    bool socket_is_ready = false;
  };

  LookupLoop(SessionParameters parameters, PostgresTable table, LookupLimits limits, int wakeup);
  void run();
  bool take_arrivals();
  void answer_overdue(TimePoint now);
  void advance(Member& member, TimePoint now);
  void settle(Member& member, Lane::Outcome outcome, TimePoint now);
  void settle_failure(Member& member, const Lane::Outcome& outcome, TimePoint now);
  void refuse_where_nobody_serves(TimePoint now);
  void give_out(Member& member, TimePoint now);
  Batch next_batch();
  void wait(TimePoint now);

  const SessionParameters parameters_;
  const PostgresTable table_;
  const LookupLimits limits_;
  const int wakeup_;
  const SteadyClock clock_;

  std::mutex mutex_;
  std::vector<Lookup> arrived_;
  bool stopping_ = false;
  /// Those that have arrived and are not with a lane.
  std::atomic<std::size_t> waiting_count_{0};
  std::atomic<std::uint64_t> lookups_{0};
  std::atomic<std::uint64_t> round_trips_{0};

  std::vector<Member> members_;
  std::deque<Lookup> waiting_;
  /// No lookup's deadline is before it.
  TimePoint next_overdue_ = TimePoint::max();
  std::thread thread_;
};

}  // namespace guestlist::postgres
