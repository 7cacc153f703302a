#include "key_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "guestlist/hash/composite_key.hpp"
#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

// One row for each key column. A domain is followed down to the type that it constrains.
constexpr const char* catalog_sql = R"(
WITH RECURSIVE typed(at, type, depth) AS (
  SELECT wanted.at, a.atttypid, 0
  FROM unnest($2::text[]) WITH ORDINALITY AS wanted(name, at)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = pg_catalog.to_regclass($1)
    AND a.attname = wanted.name AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT typed.at, t.typbasetype, depth + 1
  FROM typed JOIN pg_catalog.pg_type t ON t.oid = typed.type WHERE t.typtype = 'd'
)
SELECT n.nspname, c.relname, c.relkind, t.oid, t.typname, l.collname, l.collisdeterministic,
       pg_catalog.current_setting('server_encoding')
FROM unnest($2::text[]) WITH ORDINALITY AS wanted(name, at)
LEFT JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass($1)
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = wanted.name
  AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN LATERAL (SELECT type FROM typed WHERE typed.at = wanted.at ORDER BY depth DESC LIMIT 1)
  AS base ON true
LEFT JOIN pg_catalog.pg_type t ON t.oid = base.type
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
ORDER BY wanted.at)";

enum Column : int {
  schema,
  relation,
  kind,
  type_id,
  type_name,
  collation,
  deterministic,
  encoding
};

bool is_null(const PGresult* answer, int row, Column column) {
  return PQgetisnull(answer, row, column) == 1;
}

std::string text(const PGresult* answer, int row, Column column) {
  return PQgetvalue(answer, row, column);
}

ColumnDescription description(const std::string& name, const PGresult* answer, int row) {
  ColumnDescription described;
  described.name = name;
  const std::string digits = text(answer, row, type_id);
  std::from_chars(digits.data(), digits.data() + digits.size(), described.type_id);
  described.type_name = text(answer, row, type_name);
  described.collation = text(answer, row, collation);
  described.collation_is_deterministic =
      is_null(answer, row, deterministic) || text(answer, row, deterministic) == "t";
  described.encoding = text(answer, row, encoding);
  return described;
}

}  // namespace

Result<void> KeyTable::check(const PostgresTable& table) {
  std::vector<std::string> names = table.key_columns;
  names.push_back(table.table);
  for (const std::string& name : names) {
    if (name.empty() || name.find('\0') != std::string::npos)
      return fail(Errc::invalid_argument, "a table and each of its key columns need a name");
  }
  if (table.key_columns.empty() || table.schema.find('\0') != std::string::npos)
    return fail(Errc::invalid_argument, "a table needs one key column at least");
  if (table.value_expression.find('\0') != std::string::npos)
    return fail(Errc::invalid_argument, "the value expression is not SQL: it has a zero byte");
  return {};
}

std::string KeyTable::quoted_name(const PostgresTable& table) {
  const std::string name = quoted_identifier(table.table);
  return table.schema.empty() ? name : quoted_identifier(table.schema) + "." + name;
}

std::string KeyTable::catalog_query() {
  return catalog_sql;
}

std::vector<std::optional<std::string>> KeyTable::catalog_values(const PostgresTable& table) {
  const std::vector<std::optional<std::string>> names(table.key_columns.begin(),
                                                      table.key_columns.end());
  return {quoted_name(table), array_literal(names)};
}

Result<KeyTable> KeyTable::read(const PostgresTable& table, const PGresult* answer) {
  std::vector<KeyColumn> columns;
  for (int row = 0; row < PQntuples(answer); ++row) {
    const std::string& name = table.key_columns[static_cast<std::size_t>(row)];
    if (is_null(answer, row, relation)) {
      return fail(Errc::not_found,
                  fmt::format("PostgreSQL has no table {} in this database", quoted_name(table)));
    }
    // Others cannot be locked, and so not be read in one piece: see PostgresSnapshot.
    constexpr std::string_view readable_kinds = "rpv";
    if (readable_kinds.find(text(answer, row, kind)) == std::string_view::npos) {
      return fail(Errc::invalid_argument, fmt::format("{} is no table and no view; materialized "
                                                      "views and foreign tables are not read",
                                                      quoted_name(table)));
    }
    if (is_null(answer, row, type_id)) {
      return fail(Errc::not_found,
                  fmt::format("the table {} has no column '{}'", quoted_name(table), name));
    }
    auto column = KeyColumn::make(description(name, answer, row));
    if (!column) return fail(std::move(column).error());
    columns.push_back(*std::move(column));
  }
  PostgresTable resolved = table;
  resolved.schema = text(answer, 0, schema);
  return KeyTable(table, quoted_name(resolved), std::move(columns));
}

KeyTable::KeyTable(const PostgresTable& table, std::string name, std::vector<KeyColumn> columns)
    : name_(std::move(name)),
      value_(table.value_expression.empty()
                 ? fmt::format("row_to_json({}.*)", quoted_identifier(table.table))
                 : table.value_expression),
      columns_(std::move(columns)) {}

// The lookup of one key is a subquery with a limit, so the plan is always one index scan a key, and
// the names in the value expression are those of the table before any of ours.
std::string KeyTable::lookup_query() const {
  std::vector<std::string> arrays;
  std::vector<std::string> keys;
  std::vector<std::string> conditions;
  std::vector<std::string> types;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string column = quoted_identifier(columns_[i].name());
    arrays.push_back(fmt::format("${}::pg_catalog.{}[]", i + 1, columns_[i].sql_type()));
    keys.push_back(fmt::format("k{}", i));
    conditions.push_back(fmt::format("{} = guestlist_asked.k{}", column, i));
    types.push_back(fmt::format("CASE WHEN false THEN {} END", column));
  }
  return fmt::format(
      "SELECT guestlist_asked.at, guestlist_row.* "
      "FROM unnest({}) WITH ORDINALITY AS guestlist_asked({}, at) "
      "CROSS JOIN LATERAL (SELECT ({})::pg_catalog.text, {} FROM {} WHERE {} LIMIT 1) "
      "AS guestlist_row",
      fmt::join(arrays, ", "), fmt::join(keys, ", "), value_, fmt::join(types, ", "), name_,
      fmt::join(conditions, " AND "));
}

std::string KeyTable::where_not_null() const {
  std::vector<std::string> conditions;
  for (const KeyColumn& column : columns_)
    conditions.push_back(quoted_identifier(column.name()) + " IS NOT NULL");
  return fmt::format("FROM {} WHERE {}", name_, fmt::join(conditions, " AND "));
}

std::string KeyTable::count_query() const {
  return "SELECT count(*) " + where_not_null();
}

std::string KeyTable::estimate_query() const {
  return "EXPLAIN SELECT " + where_not_null();
}

std::string KeyTable::copy_statement() const {
  std::vector<std::string> names;
  for (const KeyColumn& column : columns_) names.push_back(quoted_identifier(column.name()));
  return fmt::format("COPY (SELECT {} {}) TO STDOUT", fmt::join(names, ", "), where_not_null());
}

Result<std::vector<std::optional<std::string>>> KeyTable::values_of(std::string_view key) const {
  const auto parts = split_key(key, columns_.size());
  if (!parts) {
    return fail(
        Errc::invalid_argument,
        fmt::format("a key of {} columns is their values joined by commas", columns_.size()));
  }
  std::vector<std::optional<std::string>> values;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::string buffer;
    const auto canonical = columns_[i].type() == KeyType::bytes
                               ? std::string_view((*parts)[i])
                               : columns_[i].canonical((*parts)[i], buffer);
    if (!canonical) {
      return fail(Errc::invalid_argument,
                  fmt::format("the key is no '{}', as column '{}' wants it",
                              guestlist::name(columns_[i].type()), columns_[i].name()));
    }
    values.push_back(columns_[i].as_value(*canonical));
  }
  return values;
}

}  // namespace guestlist::postgres
