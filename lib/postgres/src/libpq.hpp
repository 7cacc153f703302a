#pragma once

// libpq's objects with owners, and its failures as errors of one line.

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::postgres {

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using ConnectionPointer = std::unique_ptr<PGconn, Finish>;
using ResultPointer = std::unique_ptr<PGresult, Clear>;

/// libpq breaks its messages into lines and ends them with a line feed.
std::string one_line(std::string_view message);

/// `unavailable`, with the reason that the connection gives.
Error connection_error(const PGconn* connection);

/// Requires: the result is a failure. Errors: by its SQLSTATE.
Error statement_error(const PGresult* result);

/// The five characters of a failure's SQLSTATE; empty where the connection was lost.
std::string_view sql_state(const PGresult* result);

bool succeeded(const PGresult* result);

/// Waits until the socket is ready for `events` of poll. Errors: `deadline_exceeded`.
Result<void> wait_for_socket(int socket, short events, Deadline deadline);

}  // namespace guestlist::postgres
