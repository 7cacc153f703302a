#pragma once

// What the guard does with a verdict. Pure: everything it depends on is an argument.

#include <cstdint>

#include "guestlist/base/verdict.hpp"

namespace guestlist {

enum class Mode : std::uint8_t {
  shadow,   ///< count what would be rejected, reject nothing: the first thing to run
  enforce,  ///< reject, for the share of keys that `enforced_percent` says
  pass,     ///< the kill switch: as if there were no filter
};

enum class Decision : std::uint8_t {
  pass,          ///< nothing is proven
  audit,         ///< proven absent, within the budget: passes, and the source checks the filter
  would_reject,  ///< proven absent, beyond the budget, but not enforced: passes
  reject,
};

/// Requires: `within_budget` was asked only where `needs_budget` says so.
constexpr bool needs_budget(Verdict verdict, Mode mode) noexcept {
  return verdict.is_absent() && mode != Mode::pass;
}

/// `percentile` is the key's place from 0 to 99, so that one key is always treated alike.
constexpr Decision decide(Verdict verdict, Mode mode, std::uint32_t enforced_percent,
                          std::uint32_t percentile, bool within_budget) noexcept {
  if (!needs_budget(verdict, mode)) return Decision::pass;
  if (within_budget) return Decision::audit;
  const bool enforced = mode == Mode::enforce && percentile < enforced_percent;
  return enforced ? Decision::reject : Decision::would_reject;
}

}  // namespace guestlist
