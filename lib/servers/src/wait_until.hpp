#pragma once

// Waiting for servers that agree in their own time.

#include <chrono>
#include <string>
#include <thread>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::servers {

/// Asks every few milliseconds until `holds`. Errors: `deadline_exceeded`, with `what` was waited
/// for.
template <class Condition>
Result<void> wait_until(Duration at_most, const std::string& what, Condition holds) {
  const TimePoint end = SteadyClock().now() + at_most;
  while (!holds()) {
    if (SteadyClock().now() > end) return fail(Errc::deadline_exceeded, "waited for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

}  // namespace guestlist::servers
