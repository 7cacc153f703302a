#include "guestlist/guard/guard_statistics.hpp"

namespace guestlist {

std::string_view name(GuardEvent event) noexcept {
  switch (event) {
    case GuardEvent::request:
      return "requests";
    case GuardEvent::maybe:
      return "maybe";
    case GuardEvent::absent:
      return "absent";
    case GuardEvent::unknown:
      return "unknown";
    case GuardEvent::rejected:
      return "rejected";
    case GuardEvent::would_reject:
      return "would_reject";
    case GuardEvent::audit:
      return "audits";
    case GuardEvent::null_hit:
      return "null_hits";
    case GuardEvent::value_hit:
      return "value_hits";
    case GuardEvent::joined:
      return "joined";
    case GuardEvent::load:
      return "loads";
    case GuardEvent::failed_load:
      return "failed_loads";
    case GuardEvent::false_positive:
      return "false_positives";
    case GuardEvent::false_negative:
      return "false_negatives";
    case GuardEvent::refused_null:
      return "refused_nulls";
    case GuardEvent::overloaded:
      return "overloaded";
    case GuardEvent::deadline:
      return "deadlines";
    case GuardEvent::failed_invalidation:
      return "failed_invalidations";
  }
  return "unknown";
}

}  // namespace guestlist
