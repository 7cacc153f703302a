#pragma once

// When a filter is to be built again. Pure: what is known goes in, a reason comes out.

#include <cstdint>
#include <optional>
#include <string_view>

#include "guestlist/base/clock.hpp"

namespace guestlist {

enum class RebuildReason : std::uint8_t {
  none,
  by_hand,     ///< an operator asked
  missing,     ///< there is no filter: never built, flushed, evicted
  incomplete,  ///< it is not to be trusted: lost writes, an unfinished build, a lost segment
  full,        ///< it holds as many keys as it was planned for
  fpr,         ///< too many keys that do not exist pass
  age,         ///< it is as old as it may become
  deletes,     ///< too many of its keys do not exist any more
};

/// `none`, `by-hand`, `missing`, `incomplete`, `full`, `fpr`, `age`, `deletes`.
std::string_view name(RebuildReason reason) noexcept;

struct RebuildTriggers {
  /// Keys in the filter, as a share of its capacity.
  double full_at = 1.0;
  /// The measured rate of false positives, as a multiple of what was asked for.
  double fpr_at = 1.5;
  /// Deleted keys, as a share of those in the filter.
  double deletes_at = 0.2;
  /// Of a generation, in monotonic time; none: any age.
  std::optional<Duration> oldest = std::nullopt;
};

struct FilterCondition {
  bool is_there = false;
  bool is_trusted = false;
  std::uint64_t capacity = 0;
  std::uint64_t items = 0;
  double asked_fpr = 0;
  double fpr = 0;  ///< measured on answers where there are enough, else computed from the bits
  std::uint64_t deleted = 0;
  Duration age{};
};

/// The first reason that holds, in the order of RebuildReason.
RebuildReason why_rebuild(const FilterCondition& condition, const RebuildTriggers& triggers,
                          bool asked_by_hand) noexcept;

}  // namespace guestlist
