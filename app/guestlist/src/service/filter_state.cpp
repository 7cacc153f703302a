#include "service/filter_state.hpp"

namespace guestlist {

std::string_view name(FilterState state) noexcept {
  switch (state) {
    case FilterState::building:
      return "building";
    case FilterState::shadow:
      return "shadow";
    case FilterState::enforcing:
      return "enforcing";
    case FilterState::passing:
      return "passing";
  }
  return "passing";
}

FilterStanding standing_of(std::uint64_t generation, Reason reason, Mode mode) noexcept {
  if (generation == 0) return {FilterState::building, reason};
  if (reason != Reason::none) return {FilterState::passing, reason};
  switch (mode) {
    case Mode::shadow:
      return {FilterState::shadow, Reason::none};
    case Mode::enforce:
      return {FilterState::enforcing, Reason::none};
    case Mode::pass:
      return {FilterState::passing, Reason::switched_off};
  }
  return {FilterState::passing, Reason::switched_off};
}

StandingWatch::Seen StandingWatch::look(FilterStanding standing, WallTime now) {
  const std::lock_guard lock(mutex_);
  const bool has_changed = since_ == WallTime{} || standing != standing_;
  if (has_changed) {
    standing_ = standing;
    since_ = now;
  }
  return {standing_, since_, has_changed};
}

}  // namespace guestlist
