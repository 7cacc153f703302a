#pragma once

// Ports for servers of tests. They are taken below the range from which Linux serves outgoing
// connections, so that a server which is down for a moment finds its port free again.

#include <cstdint>

#include "guestlist/base/result.hpp"

namespace guestlist::servers {

/// A port of 127.0.0.1 on which nothing listened a moment ago. Somebody else may take it before the
/// caller does: whoever binds it must be ready to ask for another. Errors: `unavailable`.
Result<std::uint16_t> free_port();

}  // namespace guestlist::servers
