#pragma once

// A table as the catalog describes it, and the statements that read it.
//
// The catalog is asked again on each new connection, and the lookup's result holds one column of
// each key column's type, always NULL: so when a column's type or collation changes, PostgreSQL
// refuses the prepared statement ("cached plan must not change result type"), and no lookup is
// answered by the equality of yesterday.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/postgres/postgres_table.hpp"
#include "key_column.hpp"
#include "libpq.hpp"

namespace guestlist::postgres {

class KeyTable {
 public:
  /// The question to the catalog, and its values. Requires: `check` found nothing wrong.
  static std::string catalog_query();
  static std::vector<std::optional<std::string>> catalog_values(const PostgresTable& table);
  /// The catalog's answer. Errors: `not_found` where table or column is missing, `invalid_argument`
  /// where one is not of a kind that we read.
  static Result<KeyTable> read(const PostgresTable& table, const PGresult* answer);

  /// Errors: `invalid_argument` where the table or a column has no name, or one that cannot be.
  static Result<void> check(const PostgresTable& table);
  /// Schema and table, quoted.
  static std::string quoted_name(const PostgresTable& table);

  const std::vector<KeyColumn>& columns() const noexcept { return columns_; }

  /// `$1`, `$2`, …: an array for each key column, with one element for each key asked for. Each row
  /// is the position of a key among these, from 1, and its value.
  std::string lookup_query() const;
  std::string count_query() const;
  std::string estimate_query() const;
  std::string copy_statement() const;

  /// One text for each key column, as `lookup_query` takes it; nothing where no row can have this
  /// key. Errors: `invalid_argument` where the key is none of these columns.
  Result<std::vector<std::optional<std::string>>> values_of(std::string_view key) const;

  friend bool operator==(const KeyTable&, const KeyTable&) = default;

 private:
  KeyTable(const PostgresTable& table, std::string name, std::vector<KeyColumn> columns);
  std::string where_not_null() const;

  /// Qualified and quoted, as the catalog resolved it.
  std::string name_;
  std::string value_;
  std::vector<KeyColumn> columns_;
};

}  // namespace guestlist::postgres
