#pragma once

// The second connection of a feed: once a heartbeat it asks what became of table, publication and
// slot, and writes a note into the log. When the note comes through the stream, everything that was
// committed before it was asked for has come, and nothing had changed that the stream does not
// show.
//
// Nothing here waits: the feed polls both sockets. Distinct objects: safe. Shared objects: one
// thread at a time.

#include <cstdint>
#include <optional>
#include <string>

#include "followed_table.hpp"
#include "given_transactions.hpp"
#include "session.hpp"
#include "slot_state.hpp"

namespace guestlist::postgres {

class FeedWatch {
 public:
  struct Report {
    /// Of the heartbeat; its note may have come already.
    std::uint64_t number = 0;
    TimePoint asked_at = {};
    FollowedTable table;
    SlotState slot;
    std::optional<TransactionSnapshot> snapshot;
  };

  /// Notes of this slot that are nobody's heartbeat.
  static std::string prefix(const std::string& slot) { return "guestlist/" + slot; }
  /// Of one feed's heartbeats, and of no other's: a feed that goes on from a position gets the
  /// notes again that were written for the one before, and would take their numbers for its own.
  static std::string own_prefix(const std::string& slot);
  /// `pg_logical_emit_message`, so that the server writes it out by itself soon.
  static std::string note(const std::string& prefix, const std::string& content,
                          int server_version);

  static Result<FeedWatch> start(Session session, const PostgresTable& table,
                                 const PostgresFollowOptions& options, const std::string& prefix,
                                 Deadline deadline);

  /// Asks when it is due, or at once where `is_urgent`; a report once an answer is there. Errors:
  /// `unavailable` where the server does not answer in time.
  Result<std::optional<Report>> step(TimePoint now, bool is_urgent);
  /// When `step` has something to do without input.
  TimePoint due() const noexcept { return asked_ ? late_at_ : next_at_; }
  bool is_asking() const noexcept { return asked_; }
  int socket() const noexcept { return session_.socket(); }
  Session& session() noexcept { return session_; }

 private:
  FeedWatch(Session session, PostgresTable table, PostgresFollowOptions options)
      : session_(std::move(session)), table_(std::move(table)), options_(std::move(options)) {}

  Session session_;
  PostgresTable table_;
  PostgresFollowOptions options_;
  std::uint64_t number_ = 0;
  bool asked_ = false;
  TimePoint asked_at_ = {};
  TimePoint next_at_ = {};
  TimePoint late_at_ = {};
};

}  // namespace guestlist::postgres
