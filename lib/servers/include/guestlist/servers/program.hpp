#pragma once

// The programs of the servers, where scripts/setup.sh put them or where the machine has them.

#include <string>

#include "guestlist/base/result.hpp"

namespace guestlist::servers {

enum class Program { redis_server, valkey_server, postgres, initdb, openssl, nginx, haproxy };

/// The path that the build found, else what the PATH holds now. Errors: `not_found`, with what to
/// install.
Result<std::string> find_program(Program program);

}  // namespace guestlist::servers
