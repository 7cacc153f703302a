#pragma once

// The three answers of guestlist, and the reasons for the third.
//
// The one rule: a key that exists must never be called absent. `absent` is said only where it is
// proven; whatever cannot be proven is `unknown`, and passes. A Verdict can therefore not be made
// `absent` by default, by zeroed memory or by a reason for failure: the first enumerator is
// `unknown`.

#include <cstdint>
#include <string_view>

namespace guestlist {

enum class Answer : std::uint8_t {
  unknown = 0,  ///< nothing is proven; pass
  maybe = 1,    ///< the key was added, or this is a false positive; pass
  absent = 2,   ///< proven: the key was never added; may be rejected
};

enum class Reason : std::uint8_t {
  none = 0,      ///< the answer is `maybe` or `absent`
  missing,       ///< there is no filter
  building,      ///< the generation is not complete yet
  incomplete,    ///< an add was lost; the generation is not to be trusted until it is repaired
  stale,         ///< the lease has run out
  mismatched,    ///< the filter has other parameters than expected
  corrupt,       ///< a checksum failed where the answer would have come from
  unparsable,    ///< the key has no canonical form
  unreachable,   ///< the service that holds the filter did not answer
  deadline,      ///< the time given was over
  overloaded,    ///< a bounded queue was full
  switched_off,  ///< an operator turned the check off
};

struct Verdict {
  Answer answer = Answer::unknown;
  Reason reason = Reason::missing;

  static constexpr Verdict maybe() noexcept { return {Answer::maybe, Reason::none}; }
  static constexpr Verdict absent() noexcept { return {Answer::absent, Reason::none}; }
  static constexpr Verdict unknown(Reason reason) noexcept { return {Answer::unknown, reason}; }

  constexpr bool is_absent() const noexcept { return answer == Answer::absent; }
  friend constexpr bool operator==(const Verdict&, const Verdict&) noexcept = default;
};

/// The word for an answer in output, JSON and metrics: `unknown`, `maybe`, `absent`.
std::string_view name(Answer answer) noexcept;
/// The word for a reason in output, JSON and metrics: `none`, `missing`, `building`, …
std::string_view name(Reason reason) noexcept;

}  // namespace guestlist
