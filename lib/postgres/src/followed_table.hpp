#pragma once

// A table, its partitions and its publication as the catalog has them now, and whether changes of
// its keys come through a logical slot. One question to the catalog.
//
// The stamp changes with whatever the stream does not show: another table under the same name, a
// partition attached or detached, another type or definition of a key column, another replica
// identity, a publication that was altered or made anew. Two equal stamps say that nothing of that
// happened in between, also not there and back, because the catalog's rows would be other versions.
// It is part of the position, so changes are followed only by whoever knew the table as it is.
//
// Threads: pure functions of an answer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/postgres/postgres_follow_options.hpp"
#include "guestlist/postgres/postgres_table.hpp"
#include "libpq.hpp"

namespace guestlist::postgres {

class FollowedTable {
 public:
  /// One row, always.
  static std::string query(const PostgresTable& table, const PostgresFollowOptions& options);
  static FollowedTable read(const PGresult* answer, const PostgresTable& table,
                            const PostgresFollowOptions& options);

  /// What stands against following this table at all: one sentence with what to do.
  std::optional<Error> obstacle() const;
  /// What the publication lacks; nothing where it will do.
  std::optional<std::string> publication_fault() const;
  bool has_publication() const noexcept { return has_publication_; }
  /// An UPDATE or DELETE of the application is refused because of our publication.
  bool publication_breaks_writes() const noexcept {
    return has_publication_ && (publishes_updates_ || publishes_deletes_) &&
           (!without_identity_.empty() || !list_covers_identity_);
  }
  std::string create_publication(int server_version) const;
  /// How many columns `query` has.
  static int columns() noexcept;

  std::uint32_t id() const noexcept { return id_; }
  const std::vector<std::uint32_t>& type_ids() const noexcept { return type_ids_; }
  std::uint64_t row_estimate() const noexcept { return row_estimate_; }
  /// `<table's oid>.<stamp>`
  std::string stamp() const;

 private:
  bool publishes_changes_of_rows() const { return !keys_never_change_; }

  std::string quoted_name_;
  std::string publication_;
  bool keys_never_change_ = false;
  bool wants_list_ = true;

  std::uint32_t id_ = 0;
  char kind_ = ' ';
  char persistence_ = ' ';
  bool has_children_ = false;
  std::string unlogged_;
  std::string foreign_;
  std::string without_identity_;
  std::string generated_;
  std::string missing_column_;
  bool is_identity_full_ = false;
  /// Quoted, between commas: key columns and those of the replica identity; key columns alone.
  std::string listed_with_identity_;
  std::string listed_keys_;
  std::vector<std::uint32_t> type_ids_;
  std::uint64_t row_estimate_ = 0;
  std::string table_stamp_;

  bool has_publication_ = false;
  bool publishes_inserts_ = false;
  bool publishes_updates_ = false;
  bool publishes_deletes_ = false;
  bool publishes_truncates_ = false;
  bool is_via_root_ = false;
  bool is_member_ = false;
  bool has_row_filter_ = false;
  bool list_covers_keys_ = true;
  bool list_covers_identity_ = true;
  std::string publication_stamp_;
};

}  // namespace guestlist::postgres
