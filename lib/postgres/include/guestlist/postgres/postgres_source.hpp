#pragma once

// A table of a PostgreSQL database as a Source. One thread drives a pool of connections without
// blocking on any; what waits while they are busy is asked for together, in one query by index, so
// that more load makes larger queries and not more of them.
//
// "There is no such row" is said only when the server has run the lookup and returned none. A key
// that the column's type cannot hold (an integer of 30 digits, a text with a zero byte) is asked
// for as NULL: so also that answer comes from the table as it is now. A key that is no spelling of
// the columns' types is `invalid_argument`, and so never taken for an absent row.
//
// A connection that is lost comes back by itself; a lookup that was under way is asked once more.
// While no connection can be made, lookups fail at once, with the reason. Completions are called
// on the loop's thread and must not wait.
//
// Reads of a table take no locks that writers wait for. Distinct objects: safe. Shared objects:
// safe. Cost: `load/*` of postgres_bench. Tested by: PostgresSource.*, the Source laws.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "guestlist/postgres/postgres_snapshot.hpp"
#include "guestlist/postgres/postgres_table.hpp"

namespace guestlist {

namespace postgres {
class KeyTable;
class LookupLoop;
}  // namespace postgres

struct PostgresSourceOptions {
  std::size_t connections = 4;
  std::size_t max_waiting_loads = 10'000;
  /// Keys in one query.
  std::size_t max_batch = 128;
  PostgresSnapshotOptions snapshot = {};
};

class PostgresSource final : public Source {
 public:
  /// Connects once to see that all is well. Errors: as `PostgresSnapshot::open`.
  static Result<std::unique_ptr<PostgresSource>> open(const PostgresOptions& options,
                                                      const PostgresTable& table,
                                                      const PostgresSourceOptions& how = {});
  /// Answers what waits with `cancelled`.
  ~PostgresSource() override;

  /// Errors: also `invalid_argument` where the key is none of these columns; `cancelled`.
  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override;
  /// A `PostgresSnapshot`.
  Result<std::unique_ptr<Snapshot>> snapshot() override;
  Result<std::unique_ptr<PostgresSnapshot>> open_snapshot(const PostgresSnapshotOptions& how) const;
  const PostgresSnapshotOptions& snapshot_options() const noexcept { return how_.snapshot; }

  /// The canonical key of one value a key column, as snapshot and `load` have it; nothing where a
  /// value is no spelling of its column's type. Requires: one value for each key column.
  std::optional<std::string> canonical_key(std::span<const std::string_view> values) const;
  std::vector<KeyType> key_types() const;

  /// Lookups that reached the database, and the queries that carried them.
  std::uint64_t queries() const noexcept;
  std::uint64_t round_trips() const noexcept;

 private:
  PostgresSource(const PostgresOptions& options, const PostgresTable& table,
                 const PostgresSourceOptions& how, postgres::KeyTable described,
                 std::unique_ptr<postgres::LookupLoop> loop);

  const PostgresOptions options_;
  const PostgresTable table_;
  const PostgresSourceOptions how_;
  std::unique_ptr<const postgres::KeyTable> described_;
  std::unique_ptr<postgres::LookupLoop> loop_;
};

}  // namespace guestlist
