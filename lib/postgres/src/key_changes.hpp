#pragma once

// What the messages of pgoutput mean for a set of keys: which keys came, how many rows are gone, up
// to where. Pure: no connection and no clock.
//
// Keys of a transaction are given as they come, before its commit: the set only grows. The position
// stands still from a transaction's begin to its commit, so that whoever follows from it gets the
// whole transaction again.
//
// Distinct objects: safe. Shared objects: one thread at a time. Tested by: KeyChanges.*

#include <cstdint>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/port/change_feed.hpp"
#include "key_column.hpp"
#include "pg_output.hpp"

namespace guestlist::postgres {

class KeyChanges {
 public:
  struct Table {
    std::uint32_t id = 0;
    std::vector<KeyColumn> columns = {};
    /// Of each key column, as the catalog has it: a domain is a type of its own.
    std::vector<std::uint32_t> type_ids = {};
  };

  /// `heartbeat` is the prefix of our own notes in the log.
  KeyChanges(Table table, std::string heartbeat, std::uint64_t from);

  /// Empties `changes`, whose strings keep their memory.
  void begin(Changes& changes) noexcept;
  /// Errors: `not_found` where the message is one that a list of keys cannot be kept right with.
  Result<void> take(const PgOutput::Message& message, Changes& changes);
  /// The server has nothing for us before `lsn`.
  void reach(std::uint64_t lsn) noexcept;
  /// Cuts `changes.keys` to what was taken since `begin`.
  void end(Changes& changes) const;

  std::size_t keys() const noexcept { return used_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uint64_t position() const noexcept { return position_; }
  bool is_in_transaction() const noexcept { return transaction_ != 0; }
  /// Of the transaction whose keys came; 0 where none came of it, or outside of one.
  std::uint32_t transaction_with_keys() const noexcept { return has_keys_ ? transaction_ : 0; }
  /// The number of the last heartbeat that came; 0 before the first.
  std::uint64_t heartbeat() const noexcept { return last_heartbeat_; }
  /// How often the table was described. Again is a sign that it was altered.
  std::uint64_t descriptions() const noexcept { return descriptions_; }
  /// Rows that TRUNCATE removes, as far as it is known.
  void set_row_estimate(std::uint64_t rows) noexcept { row_estimate_ = rows; }

 private:
  Result<void> on(const PgOutput::Begin& begin, Changes& changes);
  Result<void> on(const PgOutput::Commit& commit, Changes& changes);
  Result<void> on(const PgOutput::Relation& relation, Changes& changes);
  Result<void> on(const PgOutput::Insert& insert, Changes& changes);
  Result<void> on(const PgOutput::Update& update, Changes& changes);
  Result<void> on(const PgOutput::Delete& gone, Changes& changes);
  Result<void> on(const PgOutput::Truncate& truncate, Changes& changes);
  Result<void> on(const PgOutput::Note& note, Changes& changes);
  Result<void> on(const PgOutput::Origin&, Changes&) { return {}; }
  Result<void> on(const PgOutput::Type&, Changes&) { return {}; }
  Result<void> add(PgOutput::Row row, PgOutput::Row old, Changes& changes);

  const Table table_;
  const std::string heartbeat_;
  /// For each key column, where it stands in a row; empty until the table was described.
  std::vector<std::size_t> places_;
  std::uint64_t position_;
  std::uint32_t transaction_ = 0;
  bool has_keys_ = false;
  std::uint64_t last_heartbeat_ = 0;
  std::uint64_t descriptions_ = 0;
  std::uint64_t row_estimate_ = 1;
  std::size_t used_ = 0;
  std::size_t bytes_ = 0;
  std::string buffer_;
  std::vector<std::string> parts_;
};

}  // namespace guestlist::postgres
