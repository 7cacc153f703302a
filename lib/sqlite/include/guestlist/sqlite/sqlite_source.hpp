#pragma once

// A table of an SQLite database as a Source: the embedded default. Lookups run on worker threads,
// each with a connection of its own, so a caller's thread never waits for the disk.
//
// The key column's own equality must not be wider than equality of canonical bytes. So `int` wants
// a column of INTEGER or NUMERIC affinity, `text` one of TEXT affinity with the BINARY collation,
// `bytes` one of BLOB affinity; anything else (NOCASE, uuid or decimal kept as text) is refused
// when the source is opened, since two spellings that the database tells apart would be one key
// here, or the other way round. Values of a column that are not of its type have no canonical key:
// asking for one is `unknown`, and passes.
//
// Distinct objects: safe. Shared objects: safe.
// Source: "Datatypes In SQLite", sqlite.org. Tested by: SqliteSource.*, the Source laws.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/sqlite/database.hpp"

namespace guestlist {

struct SqliteTable {
  std::string path;
  std::string table;
  std::string key_column;
  KeyType key_type = KeyType::text;
  /// SQL that gives a row's value, as in `json_object('id', id, 'price', price)`. Empty: the key
  /// column.
  std::string value_expression;
};

struct SqliteSourceOptions {
  std::size_t workers = 2;
  std::size_t max_waiting_loads = 10'000;
};

class SqliteSource final : public Source {
 public:
  /// Errors: `unavailable`, `foreign_format`; `not_found` where table or column is missing;
  /// `invalid_argument` where the column's type does not fit the key type.
  static Result<std::unique_ptr<SqliteSource>> open(const SqliteTable& table,
                                                    const SqliteSourceOptions& options = {});
  ~SqliteSource() override;

  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override;
  /// One read transaction. In WAL mode writers go on meanwhile; otherwise they wait until it is
  /// read.
  Result<std::unique_ptr<Snapshot>> snapshot() override;

  /// Lookups that reached the database.
  std::uint64_t queries() const noexcept { return queries_.load(std::memory_order_relaxed); }

 private:
  struct Load {
    std::string key;
    Deadline deadline;
    Completion<std::optional<std::string>> done;
  };
  struct Connection {
    Database database;
    Statement lookup;
  };

  SqliteSource(SqliteTable table, const SqliteSourceOptions& options)
      : table_(std::move(table)), options_(options) {}
  Result<Connection> connect() const;
  void work(Connection connection);
  Result<std::optional<std::string>> look_up(Connection& connection, const Load& load);

  const SqliteTable table_;
  const SqliteSourceOptions options_;
  std::atomic<std::uint64_t> queries_{0};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Load> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace guestlist
