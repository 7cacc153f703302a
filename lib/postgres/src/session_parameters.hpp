#pragma once

// The parameters with which every connection of ours begins, as libpq takes them.

#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "libpq.hpp"

namespace guestlist::postgres {

class SessionParameters {
 public:
  /// Errors: `invalid_argument` where the address is none. The message never holds the address,
  /// since that may hold a password.
  static Result<SessionParameters> make(const PostgresOptions& options);

  /// Begins to connect without waiting for it; null only where memory is exhausted.
  ConnectionPointer begin_connect() const;
  Duration connect_timeout() const noexcept { return connect_timeout_; }

 private:
  std::vector<std::string> keywords_;
  std::vector<std::string> values_;
  Duration connect_timeout_{};
};

}  // namespace guestlist::postgres
