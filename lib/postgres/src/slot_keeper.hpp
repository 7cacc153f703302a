#pragma once

// Makes, checks and removes what following needs in the server: the publication and the slot.
// Statements that change something commit with `synchronous_commit = local`, since otherwise they
// could wait for ourselves.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <memory>
#include <string>
#include <vector>

#include "followed_table.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "key_table.hpp"
#include "server_identity.hpp"
#include "session.hpp"
#include "slot_state.hpp"

namespace guestlist::postgres {

class SlotKeeper {
 public:
  /// Errors: as `Session::open`.
  static Result<SlotKeeper> open(const PostgresOptions& options, const PostgresTable& table,
                                 const PostgresFollowOptions& follow);

  Result<ServerIdentity> identity();
  Result<FollowedTable> table();
  Result<KeyTable> key_table();
  Result<SlotState> slot();
  /// Transactions that may have their commit in the log already and cannot be seen yet.
  Result<std::vector<std::uint32_t>> may_have_committed();
  /// A note in the log, and where it ends.
  Result<std::uint64_t> end(Deadline deadline);

  /// Makes the publication what it must be. Errors: `invalid_argument` where this role may not,
  /// with the statement that its owner runs.
  Result<FollowedTable> ensure_publication();
  /// Drops a slot of the same name, and makes one that begins now. Errors: `overloaded` where
  /// somebody follows by it; `unavailable` with who it waited for; `invalid_argument` with what to
  /// do.
  Result<void> make_slot(const SlotState& now);
  Result<void> drop_slot();
  Result<void> drop_publication();
  /// Ends a process of the server that is left of a connection of ours.
  Result<void> end_process(int process);

  int server_version() const noexcept { return session_.server_version(); }
  Session release() { return std::move(session_); }

 private:
  SlotKeeper(Session session, PostgresOptions options, PostgresTable table,
             PostgresFollowOptions follow)
      : session_(std::move(session)),
        options_(std::move(options)),
        table_(std::move(table)),
        follow_(std::move(follow)) {}
  Result<ResultPointer> ask(const std::string& sql);
  Result<FollowedTable> ensure_publication_in_turn();
  Error slot_error(Error error);
  std::string blockers();
  std::string publication() const;

  const SteadyClock clock_;
  Session session_;
  PostgresOptions options_;
  PostgresTable table_;
  PostgresFollowOptions follow_;
};

}  // namespace guestlist::postgres
