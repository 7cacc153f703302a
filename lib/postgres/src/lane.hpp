#pragma once

// One connection of the pool, as a machine that never waits: the loop tells it when its socket is
// ready or its time has come, and it goes on as far as it can.
//
//   down -> connecting -> describing -> preparing -> verifying -> idle <-> asking
//
// The table is described before the lookup is prepared, since the statement depends on it, and once
// more after it, since the table may have changed in between.
//
// Whatever fails leads to `down`, and from there, after the backoff's time, to `connecting`. A
// connection that had worked comes back at once. (Only the resolution of a host's name may take
// time: libpq asks the system for it, and waits.)
//
// A query whose askers have all given up is waited for nevertheless, until the server's own
// statement timeout has ended it: so a server that is slow has one statement a connection to carry
// out and never more. libpq's way to cancel waits for the server to answer, and one that hangs does
// not.

#include <optional>
#include <string>
#include <vector>

#include "backoff.hpp"
#include "key_table.hpp"
#include "libpq.hpp"
#include "session_parameters.hpp"

namespace guestlist::postgres {

class Lane {
 public:
  enum class State : std::uint8_t {
    down,
    connecting,
    describing,
    preparing,
    verifying,
    idle,
    asking
  };

  /// What `advance` may have to report: the end of a query.
  struct Outcome {
    /// Null where the connection was lost before the answer.
    ResultPointer result;
    Error failure;  ///< where there is no result, or a failed one
  };

  Lane(const SessionParameters& parameters, const PostgresTable& table, Duration statement_limit)
      : parameters_(parameters), table_(table), statement_limit_(statement_limit) {}

  State state() const noexcept { return state_; }
  /// Why it is down, or was the last time.
  const Error& failure() const noexcept { return failure_; }
  bool is_waiting_to_connect(TimePoint now) const noexcept {
    return state_ == State::down && now < wakes_at_;
  }
  /// As last described. Requires: `idle` or `asking`.
  const KeyTable& described() const { return *described_; }

  int socket() const noexcept { return PQsocket(connection_.get()); }
  short events() const noexcept { return events_; }
  /// When to advance though the socket is quiet.
  TimePoint wakes_at() const noexcept { return wakes_at_; }

  std::optional<Outcome> advance(TimePoint now, bool socket_is_ready);
  /// One array literal for each key column. Requires: `idle`.
  void ask(const std::vector<std::string>& arrays, TimePoint now);
  /// Drops the connection and makes a new one, as the table is not what it was described to be.
  void start_again(TimePoint now);

 private:
  void connect(TimePoint now);
  void go_on_connecting(TimePoint now);
  std::optional<Outcome> exchange(TimePoint now);
  std::optional<Outcome> on_answer(TimePoint now);
  void ask_catalog(State state, TimePoint now);
  void take_description(const PGresult* answer, TimePoint now);
  void prepare(TimePoint now);
  void sent(bool ok, State state, TimePoint now);
  std::optional<Outcome> fall(Error why, TimePoint now);

  const SessionParameters& parameters_;
  const PostgresTable& table_;
  const Duration statement_limit_;

  State state_ = State::down;
  ConnectionPointer connection_;
  std::optional<KeyTable> described_;
  ResultPointer answer_;
  short events_ = 0;
  TimePoint wakes_at_{};
  Backoff backoff_;
  Error failure_;
};

}  // namespace guestlist::postgres
