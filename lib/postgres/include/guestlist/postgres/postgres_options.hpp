#pragma once

// How a connection to PostgreSQL is made: where the server is, and what a session of ours is like.
//
// Every session has the same settings whatever the server, database or role say, because the text
// of a key or value must not depend on them: DateStyle ISO, IntervalStyle postgres, TimeZone UTC,
// extra_float_digits 3, bytea_output hex, client_encoding UTF8. Transactions are `read committed`
// unless they say otherwise: a lookup that waited for a lock must see what was committed meanwhile.
// `row_security` is off, so that a table whose rows are hidden by a policy is an error and not a
// smaller table.
//
// Unless the address says otherwise, `target_session_attrs` is `primary`: a standby lags behind,
// and a key that was committed a moment ago would be missing there.

#include <chrono>
#include <string>

#include "guestlist/base/clock.hpp"

namespace guestlist {

struct PostgresOptions {
  /// As libpq has it: `postgresql://user@host/database?sslmode=verify-full`, or
  /// `host=… dbname=…`. What it leaves out comes from libpq's environment (PGHOST, PGPASSFILE, …).
  std::string address = {};
  std::string application_name = "guestlist";
  /// For all of connecting, but for the resolution of names, which keeps the system's own time.
  Duration connect_timeout = std::chrono::seconds(3);
  /// The server itself ends a statement that takes longer. Zero: never.
  Duration statement_timeout = std::chrono::seconds(5);
};

}  // namespace guestlist
