#pragma once

// The end of a log, for the one line in which a person reads why a server did not start.

#include <string>

namespace guestlist::servers {

/// The last lines of a file, joined by ` | `; `(nothing)` where there are none.
std::string log_tail(const std::string& path);

}  // namespace guestlist::servers
