#pragma once

// A table of a PostgreSQL database that is followed: by a logical replication slot and a
// publication of its own, without trigger and extension. `follow` makes both where there are none.
//
// It needs `wal_level = logical`, the REPLICATION right (or rds_replication), and either the
// table's owner as its role or a publication that the owner made; `examine` says which of these is
// missing and how to get it. It refuses tables whose changes are in no log or not complete:
// unlogged and foreign tables, views, tables with heirs, generated columns, and tables without a
// replica identity unless their keys never change.
//
// Positions are of one server, timeline, database, slot, table, set of partitions, key columns and
// publication: whatever changes in these makes `follow` say `not_found`, and the follower begins
// anew. docs/decisions/0804 says what the stream does not show and how it is noticed.
//
// A snapshot holds all that a feed gave before: it waits for transactions whose commit is in the
// log and that cannot be seen yet. With `is_synchronous` the feed must be read meanwhile, since
// these wait for the feed.
//
// Distinct objects: safe. Shared objects: safe. Tested by: PostgresFeed.*, PostgresExamine.*, the
// Source laws, the ChangeFeed laws.

#include <atomic>
#include <memory>
#include <mutex>

#include "guestlist/port/change_feed.hpp"
#include "guestlist/postgres/postgres_follow_options.hpp"
#include "guestlist/postgres/postgres_source.hpp"

namespace guestlist {

namespace postgres {
class GivenTransactions;
}

class PostgresFollowedSource final : public FollowedSource {
 public:
  /// Connects once to see that table and columns are there. Errors: as `PostgresSource::open`.
  static Result<std::unique_ptr<PostgresFollowedSource>> open(
      const PostgresOptions& options, const PostgresTable& table,
      const PostgresFollowOptions& follow, const PostgresSourceOptions& how = {});
  ~PostgresFollowedSource() override;

  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override;
  /// Errors: also `unavailable`, with who it waits for, where a transaction that a feed gave does
  /// not become visible in `snapshot_wait`.
  Result<std::unique_ptr<Snapshot>> snapshot() override;

  /// Errors: as the port has them; `unavailable` also where a new slot waited for open transactions
  /// until its time was over, with who they are.
  Result<std::unique_ptr<ChangeFeed>> follow(
      const std::optional<SourcePosition>& position) override;
  Result<SourcePosition> end(Deadline deadline) override;
  std::vector<Finding> examine(Deadline deadline) override;
  /// Drops the slot and the publication.
  Result<void> forget() override;

  const PostgresSource& table() const noexcept { return *source_; }

 private:
  PostgresFollowedSource(const PostgresOptions& options, const PostgresTable& table,
                         const PostgresFollowOptions& follow,
                         std::unique_ptr<PostgresSource> source);

  const PostgresOptions options_;
  const PostgresTable table_;
  const PostgresFollowOptions follow_;
  const std::unique_ptr<PostgresSource> source_;
  const std::shared_ptr<postgres::GivenTransactions> given_;

  std::mutex mutex_;
  /// The server's process behind our last feed, which holds the slot for a while after a loss.
  int last_process_ = 0;
  std::shared_ptr<std::atomic<bool>> last_is_open_;
};

}  // namespace guestlist
