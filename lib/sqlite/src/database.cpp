#include "guestlist/sqlite/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace guestlist {
namespace {

// Virtual-machine steps between two looks at the deadline.
constexpr int steps_between_checks = 1000;

int is_over(void* deadline) {
  return static_cast<const Deadline*>(deadline)->is_past(SteadyClock().now()) ? 1 : 0;
}

// Asked by SQLite before it waits for a lock once more.
int wait_while_busy(void* deadline, int) {
  if (is_over(deadline) != 0) return 0;
  sqlite3_sleep(1);
  return 1;
}

Errc reason_of(int code) noexcept {
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
      return Errc::foreign_format;
    case SQLITE_CORRUPT:
      return Errc::corrupt;
    case SQLITE_INTERRUPT:
    case SQLITE_BUSY:
      return Errc::deadline_exceeded;
    default:
      return Errc::unavailable;
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

Error Statement::error(const char* doing) const {
  sqlite3* const database = sqlite3_db_handle(statement_.get());
  return Error{make_error_code(reason_of(sqlite3_errcode(database))),
               fmt::format("SQLite {} failed: {}", doing, sqlite3_errmsg(database))};
}

Result<void> Statement::bind_text(int parameter, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) return fail(error("bind"));
  return {};
}

Result<void> Statement::bind_blob(int parameter, std::string_view bytes) {
  const int code =
      sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) return fail(error("bind"));
  return {};
}

Result<void> Statement::bind_integer(int parameter, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), parameter, value) != SQLITE_OK)
    return fail(error("bind"));
  return {};
}

Result<bool> Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return fail(error("statement"));
  }
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::text(int column) const noexcept {
  // The pointer first: asking for it may convert the value and change its length.
  const bool is_blob = sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB;
  const void* const bytes = is_blob ? sqlite3_column_blob(statement_.get(), column)
                                    : sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

Database::Database(sqlite3* database)
    : database_(database), deadline_(std::make_unique<Deadline>(Deadline::never())) {
  sqlite3_busy_handler(database, wait_while_busy, deadline_.get());
  sqlite3_progress_handler(database, steps_between_checks, is_over, deadline_.get());
}

Result<Database> Database::open(const std::string& path, Access access) {
  const int flags = (access == Access::read_only ? SQLITE_OPEN_READONLY
                                                 : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
                    SQLITE_OPEN_NOMUTEX;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) {
    return fail(reason_of(code),
                fmt::format("cannot open the database '{}': {}", path, sqlite3_errstr(code)));
  }
  // Opening is lazy: only a read tells whether the file is a database at all.
  if (auto read = database.execute("PRAGMA schema_version"); !read) {
    return fail(read.error().code,
                fmt::format("cannot read the database '{}': {}", path, read.error().message()));
  }
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, &message);
  const std::unique_ptr<char, decltype(&sqlite3_free)> owned(message, &sqlite3_free);
  if (code == SQLITE_OK) return {};
  return fail(reason_of(code),
              fmt::format("SQLite: {}", message == nullptr ? sqlite3_errstr(code) : message));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    return fail(reason_of(code), fmt::format("SQLite: {}", sqlite3_errmsg(database_.get())));
  }
  return Statement(statement);
}

void Database::set_deadline(Deadline deadline) noexcept {
  *deadline_ = deadline;
}

std::string quoted_identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace guestlist
