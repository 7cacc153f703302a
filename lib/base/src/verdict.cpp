#include "guestlist/base/verdict.hpp"

namespace guestlist {

std::string_view name(Answer answer) noexcept {
  switch (answer) {
    case Answer::unknown:
      return "unknown";
    case Answer::maybe:
      return "maybe";
    case Answer::absent:
      return "absent";
  }
  return "unknown";
}

std::string_view name(Reason reason) noexcept {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::missing:
      return "missing";
    case Reason::building:
      return "building";
    case Reason::incomplete:
      return "incomplete";
    case Reason::stale:
      return "stale";
    case Reason::mismatched:
      return "mismatched";
    case Reason::corrupt:
      return "corrupt";
    case Reason::unparsable:
      return "unparsable";
    case Reason::unreachable:
      return "unreachable";
    case Reason::deadline:
      return "deadline";
    case Reason::overloaded:
      return "overloaded";
    case Reason::switched_off:
      return "switched_off";
  }
  return "none";
}

}  // namespace guestlist
