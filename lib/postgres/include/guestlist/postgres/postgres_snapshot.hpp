#pragma once

// All keys of a table as they were at one moment, by one `COPY` in a transaction of its own. Memory
// is bounded by a batch of keys and libpq's buffer, whatever the table's size.
//
// The table is locked (ACCESS SHARE, as any reader does) before the moment is chosen. The other way
// round, an ALTER TABLE that rewrites the table, or a TRUNCATE, could come in between, and the
// snapshot would see an empty table: every key that exists would be missing. While a snapshot
// lives, such statements wait for it; other readers and writers do not.
//
// Distinct objects: safe. Shared objects: one thread at a time. Cost: `snapshot/*` of
// postgres_bench. Tested by: PostgresSnapshot.*, the Source laws.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/port/source.hpp"
#include "guestlist/postgres/postgres_lsn.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "guestlist/postgres/postgres_table.hpp"

namespace guestlist {

enum class PostgresCount : std::uint8_t {
  exact,      ///< `count(*)`: reads the table or an index once more, in the same transaction
  estimated,  ///< the planner's guess, at once; as good as the last ANALYZE
  none,
};

struct PostgresSnapshotOptions {
  PostgresCount count = PostgresCount::exact;
  /// For transactions that were open when the position was read; see `position`.
  Duration wait_for_writers = Duration::zero();
  /// Transactions, by their ids in the log, that the snapshot is to show the end of. Their commits
  /// may be in the log and not visible yet.
  std::vector<std::uint32_t> shows_end_of = {};
  /// For them. Errors: `unavailable` when it is over.
  Duration wait_for_ends = std::chrono::seconds(60);
  /// A server that sends nothing for so long is taken for lost.
  Duration stall_timeout = std::chrono::seconds(60);
};

class PostgresSnapshot final : public Snapshot {
 public:
  /// Errors: as `PostgresConnection::open`; `not_found` where table or column is missing,
  /// `invalid_argument` where they are of a kind that cannot be read.
  static Result<std::unique_ptr<PostgresSnapshot>> open(const PostgresOptions& options,
                                                        const PostgresTable& table,
                                                        const PostgresSnapshotOptions& how = {});
  ~PostgresSnapshot() override;

  std::optional<std::uint64_t> count() const override { return count_; }
  /// Errors: also `deadline_exceeded` where the server stalls.
  Result<void> next(std::vector<std::string>& keys) override;

  /// Whoever replays all changes from here on misses none that the snapshot does not show.
  ///
  /// It is the end of the log at a moment before the snapshot, and it is given only where every
  /// transaction that wrote before that moment had ended when the snapshot was taken. That last
  /// part is needed: a transaction writes its commit to the log first and becomes visible later
  /// (much later, where it waits for a synchronous standby), and in between it would be in neither
  /// snapshot nor replay. Nothing where such a transaction did not end within `wait_for_writers`,
  /// or the server is a standby.
  std::optional<PostgresLsn> position() const noexcept { return position_; }

 private:
  struct Reader;
  explicit PostgresSnapshot(std::unique_ptr<Reader> reader) noexcept;

  std::unique_ptr<Reader> reader_;
  std::optional<std::uint64_t> count_;
  std::optional<PostgresLsn> position_;
};

}  // namespace guestlist
