#include "guestlist/postgres/postgres_connection.hpp"

#include <charconv>
#include <utility>

#include "session.hpp"

namespace guestlist {

void PostgresRows::Clear::operator()(pg_result* result) const noexcept {
  PQclear(result);
}

std::size_t PostgresRows::size() const noexcept {
  return static_cast<std::size_t>(PQntuples(result_.get()));
}

std::size_t PostgresRows::columns() const noexcept {
  return static_cast<std::size_t>(PQnfields(result_.get()));
}

bool PostgresRows::is_null(std::size_t row, std::size_t column) const noexcept {
  return PQgetisnull(result_.get(), static_cast<int>(row), static_cast<int>(column)) == 1;
}

std::string_view PostgresRows::text(std::size_t row, std::size_t column) const noexcept {
  const int at = static_cast<int>(row);
  const int in = static_cast<int>(column);
  return {PQgetvalue(result_.get(), at, in),
          static_cast<std::size_t>(PQgetlength(result_.get(), at, in))};
}

std::uint64_t PostgresRows::affected() const noexcept {
  const std::string_view digits = PQcmdTuples(result_.get());
  std::uint64_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return count;
}

PostgresConnection::PostgresConnection(std::unique_ptr<postgres::Session> session) noexcept
    : session_(std::move(session)) {}
PostgresConnection::PostgresConnection(PostgresConnection&& other) noexcept = default;
PostgresConnection& PostgresConnection::operator=(PostgresConnection&& other) noexcept = default;
PostgresConnection::~PostgresConnection() = default;

Result<PostgresConnection> PostgresConnection::open(const PostgresOptions& options,
                                                    Deadline deadline) {
  auto session = postgres::Session::open(options, deadline);
  if (!session) return fail(std::move(session).error());
  return PostgresConnection(std::make_unique<postgres::Session>(*std::move(session)));
}

Result<PostgresRows> PostgresConnection::execute(const std::string& sql, const Values& values,
                                                 Deadline deadline) {
  auto result = session_->run(sql, values, deadline);
  if (!result) return fail(std::move(result).error());
  return PostgresRows(result->release());
}

bool PostgresConnection::is_open() const noexcept {
  return session_->is_open();
}

}  // namespace guestlist
