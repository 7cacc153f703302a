#include "libpq.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace guestlist::postgres {
namespace {

struct Meaning {
  /// The SQLSTATE, or its first characters.
  std::string_view state;
  Errc reason;
};

// The first that fits.
constexpr std::array meanings = {
    Meaning{"57014", Errc::deadline_exceeded},  // statement_timeout, pg_cancel_backend
    Meaning{"55P03", Errc::deadline_exceeded},  // lock_timeout
    Meaning{"3D", Errc::not_found},             // database
    Meaning{"3F", Errc::not_found},             // schema
    Meaning{"42P01", Errc::not_found},          // table
    Meaning{"42703", Errc::not_found},          // column
    Meaning{"42883", Errc::not_found},          // function
    Meaning{"42704", Errc::not_found},          // type and other objects
    Meaning{"42501", Errc::unavailable},        // privileges
    Meaning{"23505", Errc::already_exists},     // unique constraint
    Meaning{"22", Errc::invalid_argument},      // data
    Meaning{"23", Errc::invalid_argument},      // constraints
    Meaning{"42", Errc::invalid_argument},      // syntax
};

Errc reason_of(std::string_view state) {
  const auto fits = [&](const Meaning& meaning) { return state.starts_with(meaning.state); };
  const auto found = std::find_if(meanings.begin(), meanings.end(), fits);
  return found == meanings.end() ? Errc::unavailable : found->reason;
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Error connection_error(const PGconn* connection) {
  std::string reason = one_line(PQerrorMessage(connection));
  if (reason.empty()) reason = "the connection was lost";
  return {make_error_code(Errc::unavailable), fmt::format("PostgreSQL: {}", reason)};
}

std::string_view sql_state(const PGresult* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? std::string_view() : state;
}

Error statement_error(const PGresult* result) {
  const std::string_view state = sql_state(result);
  const char* const primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (primary == nullptr) {
    std::string reason = one_line(PQresultErrorMessage(result));
    if (reason.empty()) reason = "the connection was lost";
    return {make_error_code(Errc::unavailable), fmt::format("PostgreSQL: {}", reason)};
  }
  std::string text = fmt::format("PostgreSQL: {}", one_line(primary));
  if (const char* const detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL))
    text += fmt::format("; {}", one_line(detail));
  return {make_error_code(reason_of(state)), fmt::format("{} ({})", text, state)};
}

bool succeeded(const PGresult* result) {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
      return true;
    default:
      return false;
  }
}

Result<void> wait_for_socket(int socket, short events, Deadline deadline) {
  const SteadyClock clock;
  while (true) {
    const TimePoint now = clock.now();
    if (deadline.is_past(now))
      return fail(Errc::deadline_exceeded, "PostgreSQL did not answer in the time given");
    int milliseconds = -1;
    if (deadline.at != TimePoint::max()) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline.at - now).count();
      milliseconds =
          static_cast<int>(std::min<std::int64_t>(rest, std::numeric_limits<int>::max()));
    }
    pollfd waiting{socket, events, 0};
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR)
      return fail(errno_error(Errc::unavailable, "cannot wait for PostgreSQL"));
  }
}

}  // namespace guestlist::postgres
