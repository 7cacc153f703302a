#include "followed_table.hpp"

#include <fmt/format.h>

#include <charconv>

#include "key_table.hpp"
#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

// {0}: the table's quoted name; {1}: key columns, an array; {2}: the publication's name; all three
// as literals. Nothing here takes a lock on the table that its owner could have to wait for, or we
// for him. Columns that not every version has are read by way of JSON.
constexpr std::string_view catalog_sql = R"(
WITH RECURSIVE target AS (
  SELECT c.oid, c.relkind, c.relpersistence, c.relnamespace, c.relname
  FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass({0})
), tree(oid, edge) AS (
  SELECT oid, ''::text FROM target
  UNION ALL
  SELECT i.inhrelid, i.inhparent || '.' || i.xmin FROM tree
  JOIN pg_catalog.pg_inherits i ON i.inhparent = tree.oid
), node AS (
  SELECT tree.oid, tree.edge, c.relname, c.relkind, c.relpersistence, c.relreplident,
         c.reltuples, x.indexrelid, x.indkey
  FROM tree JOIN pg_catalog.pg_class c ON c.oid = tree.oid
  LEFT JOIN pg_catalog.pg_index x ON x.indrelid = c.oid AND x.indisvalid AND x.indislive
    AND (c.relreplident = 'd' AND x.indisprimary OR c.relreplident = 'i' AND x.indisreplident)
), leaf AS (
  SELECT * FROM node WHERE relkind <> 'p'
), wanted AS (
  SELECT w.name, w.at, a.attnum, a.atttypid, a.attcollation, a.attgenerated, a.xmin
  FROM unnest({1}::text[]) WITH ORDINALITY AS w(name, at)
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = (SELECT oid FROM target)
    AND a.attname = w.name AND a.attnum > 0 AND NOT a.attisdropped
), of_identity AS (
  SELECT DISTINCT a.attname FROM leaf
  JOIN pg_catalog.pg_attribute a ON a.attrelid = leaf.oid AND a.attnum = ANY (leaf.indkey)
), published AS (
  SELECT p.oid, p.xmin, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, p.pubviaroot,
         p.puballtables, r.oid AS member, r.xmin AS member_version,
         to_jsonb(r) ->> 'prqual' AS row_filter,
         string_to_array(translate(to_jsonb(r) ->> 'prattrs', '[] ', ''), ',') AS listed
  FROM pg_catalog.pg_publication p
  LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid
    AND r.prrelid = (SELECT oid FROM target)
  WHERE p.pubname = {2}
), listed AS (
  SELECT a.attname FROM published, unnest(published.listed) AS l(number)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = (SELECT oid FROM target)
    AND a.attnum = l.number::int2
)
SELECT (SELECT oid FROM target),
  (SELECT relkind FROM target),
  (SELECT relpersistence FROM target),
  (SELECT relkind = 'r' FROM target) AND (SELECT count(*) > 1 FROM tree),
  (SELECT min(relname) FROM leaf WHERE relpersistence <> 'p'),
  (SELECT min(relname) FROM leaf WHERE relkind <> 'r'),
  (SELECT min(relname) FROM leaf WHERE relreplident <> 'f' AND indexrelid IS NULL),
  (SELECT min(name) FROM wanted WHERE attgenerated <> ''),
  (SELECT min(name) FROM wanted WHERE attnum IS NULL),
  (SELECT coalesce(bool_or(relreplident = 'f'), false) FROM leaf),
  (SELECT string_agg(quote_ident(n), ', ' ORDER BY n)
     FROM (SELECT name FROM wanted UNION SELECT attname FROM of_identity) AS both_of(n)),
  (SELECT string_agg(quote_ident(name), ', ' ORDER BY at) FROM wanted),
  (SELECT string_agg(atttypid::text, ' ' ORDER BY at) FROM wanted),
  (SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM leaf),
  (SELECT hashtextextended(
     (SELECT string_agg(concat_ws('.', attnum, atttypid, attcollation, xmin), ' ' ORDER BY at)
        FROM wanted) || '/' ||
     (SELECT string_agg(concat_ws('.', oid, edge, relkind, relpersistence, relreplident,
                                  indexrelid, indkey), ' ' ORDER BY oid) FROM node), 0)),
  (SELECT pubinsert FROM published), (SELECT pubupdate FROM published),
  (SELECT pubdelete FROM published), (SELECT pubtruncate FROM published),
  (SELECT pubviaroot FROM published),
  (SELECT member IS NOT NULL OR puballtables OR EXISTS (
     SELECT FROM pg_catalog.pg_publication_tables t WHERE t.pubname = {2}
       AND t.schemaname = (SELECT n.nspname FROM target JOIN pg_catalog.pg_namespace n
                            ON n.oid = target.relnamespace)
       AND t.tablename = (SELECT relname FROM target)) FROM published),
  (SELECT row_filter IS NOT NULL FROM published),
  (SELECT listed IS NULL OR NOT EXISTS (
     SELECT FROM wanted WHERE name NOT IN (SELECT attname FROM listed)) FROM published),
  (SELECT listed IS NULL OR NOT EXISTS (
     SELECT FROM of_identity WHERE attname NOT IN (SELECT attname FROM listed))
     AND NOT EXISTS (SELECT FROM leaf WHERE relreplident = 'f') FROM published),
  (SELECT hashtextextended(concat_ws('.', oid, xmin, member, member_version), 0) FROM published)
)";

enum Column : int {
  table_id,
  kind,
  persistence,
  has_children,
  unlogged,
  foreign,
  without_identity,
  generated,
  missing_column,
  identity_is_full,
  listed_with_identity,
  listed_keys,
  type_ids,
  row_estimate,
  table_stamp,
  publishes_inserts,
  publishes_updates,
  publishes_deletes,
  publishes_truncates,
  via_root,
  member,
  row_filter,
  list_covers_keys,
  list_covers_identity,
  publication_stamp,
  count,
};

template <class Number>
Number number(std::string_view digits) {
  Number value{};
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::vector<std::uint32_t> numbers(std::string_view text) {
  std::vector<std::uint32_t> read;
  while (!text.empty()) {
    const auto blank = std::min(text.find(' '), text.size());
    read.push_back(number<std::uint32_t>(text.substr(0, blank)));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return read;
}

Error refused(std::string why) {
  return {make_error_code(Errc::invalid_argument), std::move(why)};
}

}  // namespace

int FollowedTable::columns() noexcept {
  return Column::count;
}

std::string FollowedTable::query(const PostgresTable& table, const PostgresFollowOptions& options) {
  const std::vector<std::optional<std::string>> names(table.key_columns.begin(),
                                                      table.key_columns.end());
  return fmt::format(
      fmt::runtime(catalog_sql), quoted_literal(KeyTable::quoted_name(table)),
      quoted_literal(array_literal(names)),
      quoted_literal(options.publication.empty() ? options.slot : options.publication));
}

FollowedTable FollowedTable::read(const PGresult* answer, const PostgresTable& table,
                                  const PostgresFollowOptions& options) {
  const auto text = [&](Column column) { return std::string(PQgetvalue(answer, 0, column)); };
  const auto is = [&](Column column) { return text(column) == "t"; };
  const auto letter = [&](Column column) {
    const std::string value = text(column);
    return value.empty() ? ' ' : value.front();
  };
  FollowedTable read;
  read.quoted_name_ = KeyTable::quoted_name(table);
  read.publication_ = options.publication.empty() ? options.slot : options.publication;
  read.keys_never_change_ = options.keys_never_change;
  read.wants_list_ = options.publish_key_columns_only;
  read.id_ = number<std::uint32_t>(text(table_id));
  read.kind_ = letter(kind);
  read.persistence_ = letter(persistence);
  read.has_children_ = is(has_children);
  read.unlogged_ = text(unlogged);
  read.foreign_ = text(foreign);
  read.without_identity_ = text(without_identity);
  read.generated_ = text(generated);
  read.missing_column_ = text(missing_column);
  read.is_identity_full_ = is(identity_is_full);
  read.listed_with_identity_ = text(listed_with_identity);
  read.listed_keys_ = text(listed_keys);
  read.type_ids_ = numbers(text(Column::type_ids));
  read.row_estimate_ = number<std::uint64_t>(text(Column::row_estimate));
  read.table_stamp_ = text(table_stamp);
  read.has_publication_ = PQgetisnull(answer, 0, publishes_inserts) == 0;
  read.publishes_inserts_ = is(publishes_inserts);
  read.publishes_updates_ = is(publishes_updates);
  read.publishes_deletes_ = is(publishes_deletes);
  read.publishes_truncates_ = is(publishes_truncates);
  read.is_via_root_ = is(via_root);
  read.is_member_ = is(member);
  read.has_row_filter_ = is(row_filter);
  read.list_covers_keys_ = is(list_covers_keys);
  read.list_covers_identity_ = is(list_covers_identity);
  read.publication_stamp_ = text(publication_stamp);
  return read;
}

std::optional<Error> FollowedTable::obstacle() const {
  if (id_ == 0) {
    return refused(fmt::format("PostgreSQL has no table {} in this database", quoted_name_));
  }
  if (!missing_column_.empty()) {
    return refused(fmt::format("the table {} has no column '{}'", quoted_name_, missing_column_));
  }
  if (kind_ == 'v' || kind_ == 'm' || kind_ == 'f') {
    return refused(fmt::format(
        "{} is a {} and has no changes of its own; follow the table behind it", quoted_name_,
        kind_ == 'v' ? "view" : (kind_ == 'm' ? "materialized view" : "foreign table")));
  }
  if (kind_ != 'r' && kind_ != 'p')
    return refused(fmt::format("{} is no table that can be followed", quoted_name_));
  if (has_children_) {
    return refused(
        fmt::format("{} has tables that inherit from it, whose rows a publication does "
                    "not follow reliably; partition the table instead",
                    quoted_name_));
  }
  if (!foreign_.empty()) {
    return refused(
        fmt::format("the partition '{}' of {} is a foreign table, whose changes are on "
                    "another server; detach it",
                    foreign_, quoted_name_));
  }
  if (!unlogged_.empty()) {
    return refused(
        fmt::format("the table '{}' is unlogged or temporary, so its changes are in no "
                    "log; ALTER TABLE … SET LOGGED",
                    unlogged_));
  }
  if (!generated_.empty()) {
    return refused(
        fmt::format("the column '{}' is generated, and PostgreSQL does not publish "
                    "generated columns; follow the columns that it is made of",
                    generated_));
  }
  if (publishes_changes_of_rows() && !without_identity_.empty()) {
    return refused(
        fmt::format("the table '{}' has no replica identity, so a key that an UPDATE changes "
                    "would be missed; give it a primary key, or ALTER TABLE … REPLICA IDENTITY "
                    "FULL, or promise that keys never change",
                    without_identity_));
  }
  return std::nullopt;
}

std::optional<std::string> FollowedTable::publication_fault() const {
  if (!has_publication_) return "there is no publication of that name";
  if (!is_member_) return "it does not hold the table";
  if (has_row_filter_) return "it has a row filter, and rows that it hides may come to be seen";
  if (!publishes_inserts_) return "it does not publish inserts";
  if (!publishes_truncates_) return "it does not publish truncates";
  if (publishes_changes_of_rows() && !publishes_updates_) return "it does not publish updates";
  if (!list_covers_keys_) return "its column list lacks a key column";
  if (kind_ == 'p' && !is_via_root_) return "it does not publish partitions as their root";
  if (publication_breaks_writes()) return "it makes the server refuse updates of the table";
  return std::nullopt;
}

std::string FollowedTable::create_publication(int server_version) const {
  constexpr int first_with_lists = 150'000;
  const bool has_list = wants_list_ && server_version >= first_with_lists &&
                        !(publishes_changes_of_rows() && is_identity_full_);
  const std::string& listed = publishes_changes_of_rows() ? listed_with_identity_ : listed_keys_;
  return fmt::format(
      "CREATE PUBLICATION {} FOR TABLE {}{} WITH (publish = '{}', publish_via_partition_root = "
      "true)",
      quoted_identifier(publication_), quoted_name_,
      has_list ? fmt::format(" ({})", listed) : std::string(),
      publishes_changes_of_rows() ? "insert, update, delete, truncate" : "insert, truncate");
}

std::string FollowedTable::stamp() const {
  const auto hash = static_cast<std::uint64_t>(number<std::int64_t>(table_stamp_)) ^
                    (static_cast<std::uint64_t>(number<std::int64_t>(publication_stamp_)) *
                     0x9E37'79B9'7F4A'7C15U);
  return fmt::format("{}.{:016x}", id_, hash);
}

}  // namespace guestlist::postgres
