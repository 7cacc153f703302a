#pragma once

// One connection to an SQLite database and its prepared statements: the few calls that guestlist
// needs, with errors as values.
//
// Distinct objects: safe, also on one database file. Shared objects: one thread at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace guestlist {

/// Parameters and columns count from 1 and from 0, as in SQLite.
class Statement {
 public:
  /// `text` needs to live until the next reset.
  Result<void> bind_text(int parameter, std::string_view text);
  Result<void> bind_blob(int parameter, std::string_view bytes);
  Result<void> bind_integer(int parameter, std::int64_t value);
  /// True: there is a row. False: done. Errors: `unavailable`, with SQLite's reason.
  Result<bool> step();
  /// Forgets the row and the parameters; the statement can be run again.
  void reset() noexcept;

  bool is_null(int column) const noexcept;
  /// The column's bytes, as text or blob; valid until the next step or reset.
  std::string_view text(int column) const noexcept;
  std::int64_t integer(int column) const noexcept;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  explicit Statement(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  Error error(const char* doing) const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Access : std::uint8_t {
    read_only,
    read_write,  ///< created where it does not exist
  };

  /// Errors: `unavailable`, with path and reason; `foreign_format` where the file is no database.
  static Result<Database> open(const std::string& path, Access access);

  /// Runs statements that give no rows.
  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// From now on calls that wait or work until `deadline` end with an error.
  void set_deadline(Deadline deadline) noexcept;

  sqlite3* handle() const noexcept { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  explicit Database(sqlite3* database);

  std::unique_ptr<sqlite3, Close> database_;
  /// On the heap, since SQLite keeps its address.
  std::unique_ptr<Deadline> deadline_;
};

/// `name` as an identifier in SQL, whatever it contains.
std::string quoted_identifier(std::string_view name);

}  // namespace guestlist
