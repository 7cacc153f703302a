#pragma once

// What a filter of the service does to requests, in one word, with the reason and since when.
//
//   building    no generation yet; everything passes
//   shadow      verdicts are given and counted, nothing is rejected
//   enforcing   absent keys are rejected
//   passing     there is a generation, and nothing is called absent: reason says why
//
// Distinct objects: safe. Shared objects: safe. Tested by: FilterStateTest.*

#include <chrono>
#include <mutex>
#include <string_view>

#include "guestlist/base/verdict.hpp"
#include "guestlist/guard/decision.hpp"

namespace guestlist {

enum class FilterState : std::uint8_t { building, shadow, enforcing, passing };

std::string_view name(FilterState state) noexcept;

struct FilterStanding {
  FilterState state = FilterState::building;
  Reason reason = Reason::building;  ///< `none` where verdicts are given
  friend bool operator==(const FilterStanding&, const FilterStanding&) noexcept = default;
};

/// `generation` 0: there was none yet. `reason`: why nothing can be called absent, or `none`.
/// `mode`: the strongest that a route of the filter has.
FilterStanding standing_of(std::uint64_t generation, Reason reason, Mode mode) noexcept;

/// Remembers when the standing became what it is.
class StandingWatch {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  struct Seen {
    FilterStanding standing;
    WallTime since;
    bool has_changed;  ///< with this look
  };
  Seen look(FilterStanding standing, WallTime now);

 private:
  std::mutex mutex_;
  FilterStanding standing_;
  WallTime since_{};
};

}  // namespace guestlist
