#pragma once

// The parameters with which every connection of ours begins, as libpq takes them.

#include <cstdint>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "libpq.hpp"

namespace guestlist::postgres {

/// What the server's process is to be: one that runs statements, or a sender of its log.
enum class SessionKind : std::uint8_t {
  ordinary,
  logical_replication,   ///< runs statements too; counts as one of the database
  physical_replication,  ///< of no database; pg_hba.conf has lines of its own for it
};

class SessionParameters {
 public:
  /// Errors: `invalid_argument` where the address is none. The message never holds the address,
  /// since that may hold a password.
  static Result<SessionParameters> make(const PostgresOptions& options,
                                        SessionKind kind = SessionKind::ordinary);

  /// Begins to connect without waiting for it; null only where memory is exhausted.
  ConnectionPointer begin_connect() const;
  Duration connect_timeout() const noexcept { return connect_timeout_; }

 private:
  std::vector<std::string> keywords_;
  std::vector<std::string> values_;
  Duration connect_timeout_{};
};

}  // namespace guestlist::postgres
