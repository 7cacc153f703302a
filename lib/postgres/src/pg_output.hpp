#pragma once

// One message of `pgoutput`, the plugin that PostgreSQL's logical replication speaks: bytes in, a
// message out. Pure; the views of a message live until the next call, and as long as the bytes do.
//
// Source: PostgreSQL 15, "Logical Replication Message Formats", protocol version 1 (without
// streamed transactions and without two-phase commit).
//
// Distinct objects: safe. Shared objects: one thread at a time. Tested by: PgOutput.*, and
// pg_output_fuzz.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace guestlist::postgres {

class PgOutput {
 public:
  enum class Kind : std::uint8_t {
    null,
    unchanged,  ///< a value kept apart from its row (TOAST) that an UPDATE did not touch
    text,
    binary,
  };
  struct Field {
    Kind kind = Kind::null;
    std::string_view value = {};
  };
  using Row = std::span<const Field>;

  struct Begin {
    std::uint64_t final_lsn;
    std::uint32_t transaction;
  };
  struct Commit {
    std::uint64_t lsn;
    std::uint64_t end_lsn;
  };
  struct Origin {
    std::string_view name;
  };
  struct Column {
    bool is_of_identity;
    std::string_view name;
    std::uint32_t type;
  };
  struct Relation {
    std::uint32_t id;
    std::string_view schema;
    std::string_view name;
    char replica_identity;
    std::span<const Column> columns;
  };
  struct Type {
    std::uint32_t id;
    std::string_view name;
  };
  struct Insert {
    std::uint32_t relation;
    Row row;
  };
  struct Update {
    std::uint32_t relation;
    /// Empty where the replica identity did not change and is not FULL.
    Row old;
    Row row;
  };
  struct Delete {
    std::uint32_t relation;
    Row old;
  };
  struct Truncate {
    std::span<const std::uint32_t> relations;
  };
  /// What `pg_logical_emit_message` wrote.
  struct Note {
    bool is_transactional;
    std::uint64_t lsn;
    std::string_view prefix;
    std::string_view content;
  };
  using Message =
      std::variant<Begin, Commit, Origin, Relation, Type, Insert, Update, Delete, Truncate, Note>;

  /// Nothing where the bytes are no such message, or more than one.
  std::optional<Message> parse(std::string_view bytes);

 private:
  class Cursor;
  std::optional<Message> read(Cursor& bytes);
  std::optional<Message> read_relation(Cursor& bytes);
  std::optional<Message> read_update(Cursor& bytes);
  std::optional<Message> read_truncate(Cursor& bytes);

  std::vector<Column> columns_;
  std::vector<Field> old_;
  std::vector<Field> new_;
  std::vector<std::uint32_t> relations_;
};

}  // namespace guestlist::postgres
