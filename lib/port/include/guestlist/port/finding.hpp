#pragma once

// What somebody who runs the service should know before it hurts: one line that says what is, one
// that says what to do.

#include <cstdint>
#include <string>

namespace guestlist {

enum class Severity : std::uint8_t {
  good,     ///< looked at, and as it should be
  warning,  ///< works, and will hurt one day
  error,    ///< does not work
};

struct Finding {
  Severity severity = Severity::good;
  std::string what = {};
  std::string fix = {};  ///< empty where there is nothing to do
};

}  // namespace guestlist
