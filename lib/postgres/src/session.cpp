#include "session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

namespace guestlist::postgres {
namespace {

Error timed_out(const PostgresOptions& options, const PGconn* connection) {
  const char* const host = PQhost(connection);
  return {
      make_error_code(Errc::deadline_exceeded),
      fmt::format("PostgreSQL at '{}' did not accept a connection within {} ms",
                  host == nullptr ? "" : host,
                  std::chrono::ceil<std::chrono::milliseconds>(options.connect_timeout).count())};
}

}  // namespace

Result<Session> Session::open(const PostgresOptions& options, Deadline deadline, SessionKind kind) {
  const auto parameters = SessionParameters::make(options, kind);
  if (!parameters) return fail(parameters.error());
  const SteadyClock clock;
  const Deadline limit{std::min(deadline.at, clock.now() + options.connect_timeout)};
  ConnectionPointer connection = parameters->begin_connect();
  if (connection == nullptr) return fail(Errc::unavailable, "no memory for a connection");
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
  while (PQstatus(connection.get()) != CONNECTION_BAD && wants != PGRES_POLLING_OK &&
         wants != PGRES_POLLING_FAILED) {
    const short events = wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for_socket(PQsocket(connection.get()), events, limit))
      return fail(timed_out(options, connection.get()));
    wants = PQconnectPoll(connection.get());
  }
  if (PQstatus(connection.get()) != CONNECTION_OK) return fail(connection_error(connection.get()));
  // Otherwise even closing could wait, for a peer that reads nothing.
  PQsetnonblocking(connection.get(), 1);
  return Session(std::move(connection));
}

Result<ResultPointer> Session::run(const std::string& sql,
                                   const std::vector<std::optional<std::string>>& values,
                                   Deadline deadline) {
  if (!is_open()) return fail(Errc::unavailable, "the connection to PostgreSQL is closed");
  std::vector<const char*> parameters;
  for (const auto& value : values) {
    if (value && value->find('\0') != std::string::npos)
      return fail(Errc::invalid_argument, "PostgreSQL has no text with a zero byte");
    parameters.push_back(value ? value->c_str() : nullptr);
  }
  const bool sent = values.empty() ? PQsendQuery(connection_.get(), sql.c_str()) == 1
                                   : PQsendQueryParams(connection_.get(), sql.c_str(),
                                                       static_cast<int>(values.size()), nullptr,
                                                       parameters.data(), nullptr, nullptr, 0) == 1;
  if (!sent) return close(connection_error(connection_.get()));
  if (auto flushed = flush(deadline); !flushed) return fail(std::move(flushed).error());
  return last_result(deadline);
}

Result<void> Session::send(const std::string& sql) {
  if (!is_open()) return fail(Errc::unavailable, "the connection to PostgreSQL is closed");
  pending_.reset();
  if (PQsendQuery(connection_.get(), sql.c_str()) != 1 || PQflush(connection_.get()) < 0)
    return close(connection_error(connection_.get()));
  return {};
}

Result<std::optional<ResultPointer>> Session::try_result() {
  if (!is_open()) return fail(Errc::unavailable, "the connection to PostgreSQL is closed");
  if (PQflush(connection_.get()) < 0 || PQconsumeInput(connection_.get()) != 1)
    return close(connection_error(connection_.get()));
  while (PQisBusy(connection_.get()) == 0) {
    ResultPointer result(PQgetResult(connection_.get()));
    if (result == nullptr) {
      if (pending_ != nullptr && succeeded(pending_.get()))
        return std::optional<ResultPointer>(std::move(pending_));
      Error why = pending_ == nullptr ? connection_error(connection_.get())
                                      : statement_error(pending_.get());
      return close(std::move(why));
    }
    // The first failure is kept, and else the last result.
    if (pending_ == nullptr || succeeded(pending_.get())) pending_ = std::move(result);
  }
  return std::optional<ResultPointer>();
}

Result<void> Session::begin_copy(const std::string& sql, Deadline deadline) {
  lines_read_ = 0;
  return begin(sql, PGRES_COPY_OUT, deadline);
}

Result<void> Session::begin_both_ways(const std::string& command, Deadline deadline) {
  return begin(command, PGRES_COPY_BOTH, deadline);
}

Result<void> Session::begin(const std::string& sql, ExecStatusType expected, Deadline deadline) {
  if (!is_open()) return fail(Errc::unavailable, "the connection to PostgreSQL is closed");
  if (PQsendQuery(connection_.get(), sql.c_str()) != 1)
    return close(connection_error(connection_.get()));
  if (auto flushed = flush(deadline); !flushed) return flushed;
  auto begun = next_result(deadline);
  if (!begun) return fail(std::move(begun).error());
  if (PQresultStatus(begun->get()) != expected) return fail(statement_error(begun->get()));
  return {};
}

Result<std::optional<std::string_view>> Session::next_copy_line(Deadline deadline) {
  if (!is_open()) return fail(Errc::unavailable, "the connection to PostgreSQL is closed");
  constexpr int without_waiting = 1;
  while (true) {
    char* line = nullptr;
    const int size = PQgetCopyData(connection_.get(), &line, without_waiting);
    line_.reset(line);
    if (size > 0) {
      ++lines_read_;
      return std::string_view(line, static_cast<std::size_t>(size));
    }
    if (size < 0) break;
    if (auto arrived = wait_for_input(deadline); !arrived) return fail(std::move(arrived).error());
  }
  if (auto finished = finish_copy(deadline); !finished) return fail(std::move(finished).error());
  return std::nullopt;
}

Result<void> Session::finish_copy(Deadline deadline) {
  auto result = last_result(deadline);
  if (!result) return fail(std::move(result).error());
  if (const std::string sent = PQcmdTuples(result->get()); sent != std::to_string(lines_read_)) {
    return fail(Errc::corrupt,
                fmt::format("PostgreSQL sent {} rows and {} arrived", sent, lines_read_));
  }
  return {};
}

Result<void> Session::flush(Deadline deadline) {
  while (true) {
    const int rest = PQflush(connection_.get());
    if (rest == 0) return {};
    if (rest < 0) return close(connection_error(connection_.get()));
    // A server that cannot send its answers takes no further requests: both ways must move.
    if (auto ready = wait_for_socket(PQsocket(connection_.get()), POLLIN | POLLOUT, deadline);
        !ready)
      return close(std::move(ready).error());
    if (PQconsumeInput(connection_.get()) != 1) return close(connection_error(connection_.get()));
  }
}

Result<void> Session::wait_for_input(Deadline deadline) {
  if (auto ready = wait_for_socket(PQsocket(connection_.get()), POLLIN, deadline); !ready)
    return close(std::move(ready).error());
  if (PQconsumeInput(connection_.get()) != 1) return close(connection_error(connection_.get()));
  return {};
}

Result<ResultPointer> Session::next_result(Deadline deadline) {
  while (PQisBusy(connection_.get()) == 1) {
    if (auto arrived = wait_for_input(deadline); !arrived) return fail(std::move(arrived).error());
  }
  return ResultPointer(PQgetResult(connection_.get()));
}

Result<ResultPointer> Session::last_result(Deadline deadline) {
  ResultPointer last;
  std::optional<Error> failure;
  while (true) {
    auto result = next_result(deadline);
    if (!result) return result;
    if (*result == nullptr) break;
    const ExecStatusType status = PQresultStatus(result->get());
    if (status == PGRES_COPY_OUT || status == PGRES_COPY_IN || status == PGRES_COPY_BOTH) {
      return close({make_error_code(Errc::invalid_argument),
                    "COPY from and to the client is not run by this call"});
    }
    if (!succeeded(result->get()) && !failure) failure = statement_error(result->get());
    last = *std::move(result);
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    return close(failure ? *failure : connection_error(connection_.get()));
  if (failure) return fail(*std::move(failure));
  return last;
}

tl::unexpected<Error> Session::close(Error why) {
  connection_.reset();
  return fail(std::move(why));
}

}  // namespace guestlist::postgres
