#pragma once

// One connection to PostgreSQL for whoever writes: a statement, its values, a deadline. The calling
// thread waits; lookups by the thousand go through PostgresSource.
//
// A statement that did not answer by its deadline may have had its effect or not. The connection is
// closed then, and with it a transaction that was open: the server rolls it back. Open a new one.
//
// Distinct objects: safe. Shared objects: one thread at a time. Tested by: PostgresConnection.*

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/postgres/postgres_options.hpp"

struct pg_result;

namespace guestlist {

namespace postgres {
class Session;
}

/// What a statement gave. Rows and columns count from 0.
class PostgresRows {
 public:
  std::size_t size() const noexcept;
  std::size_t columns() const noexcept;
  bool is_null(std::size_t row, std::size_t column) const noexcept;
  /// Empty where it is null. Lives as long as the object.
  std::string_view text(std::size_t row, std::size_t column) const noexcept;
  /// Rows that an INSERT, UPDATE, DELETE, MERGE or SELECT concerned.
  std::uint64_t affected() const noexcept;

 private:
  friend class PostgresConnection;
  struct Clear {
    void operator()(pg_result* result) const noexcept;
  };
  explicit PostgresRows(pg_result* result) noexcept : result_(result) {}
  std::unique_ptr<pg_result, Clear> result_;
};

class PostgresConnection {
 public:
  /// Values of a statement's `$1`, `$2`, …, in text form; nothing is NULL.
  using Values = std::vector<std::optional<std::string>>;

  /// Errors: `invalid_argument` where the address is none; `unavailable` with the server's reason;
  /// `deadline_exceeded`.
  static Result<PostgresConnection> open(const PostgresOptions& options, Deadline deadline);

  PostgresConnection(PostgresConnection&& other) noexcept;
  PostgresConnection& operator=(PostgresConnection&& other) noexcept;
  ~PostgresConnection();

  /// Without values the text may hold several statements, which then are one transaction. Errors:
  /// `already_exists` (a unique constraint), `not_found` (table, column), `invalid_argument` (data,
  /// syntax, other constraints), `deadline_exceeded`, `unavailable`; the sentence ends with the
  /// SQLSTATE.
  Result<PostgresRows> execute(const std::string& sql, const Values& values, Deadline deadline);
  Result<PostgresRows> execute(const std::string& sql, Deadline deadline) {
    return execute(sql, {}, deadline);
  }
  /// False once a connection was lost or a deadline missed.
  bool is_open() const noexcept;

 private:
  explicit PostgresConnection(std::unique_ptr<postgres::Session> session) noexcept;
  std::unique_ptr<postgres::Session> session_;
};

}  // namespace guestlist
