#include "guestlist/filter/rebuild_policy.hpp"

namespace guestlist {

std::string_view name(RebuildReason reason) noexcept {
  switch (reason) {
    case RebuildReason::none:
      return "none";
    case RebuildReason::by_hand:
      return "by-hand";
    case RebuildReason::missing:
      return "missing";
    case RebuildReason::incomplete:
      return "incomplete";
    case RebuildReason::full:
      return "full";
    case RebuildReason::fpr:
      return "fpr";
    case RebuildReason::age:
      return "age";
    case RebuildReason::deletes:
      return "deletes";
  }
  return "none";
}

RebuildReason why_rebuild(const FilterCondition& condition, const RebuildTriggers& triggers,
                          bool asked_by_hand) noexcept {
  if (asked_by_hand) return RebuildReason::by_hand;
  if (!condition.is_there) return RebuildReason::missing;
  if (!condition.is_trusted) return RebuildReason::incomplete;
  const auto items = static_cast<double>(condition.items);
  if (items > static_cast<double>(condition.capacity) * triggers.full_at) {
    return RebuildReason::full;
  }
  if (condition.fpr > condition.asked_fpr * triggers.fpr_at) return RebuildReason::fpr;
  if (triggers.oldest && condition.age > *triggers.oldest) return RebuildReason::age;
  if (condition.deleted > 0 &&
      static_cast<double>(condition.deleted) > items * triggers.deletes_at) {
    return RebuildReason::deletes;
  }
  return RebuildReason::none;
}

}  // namespace guestlist
