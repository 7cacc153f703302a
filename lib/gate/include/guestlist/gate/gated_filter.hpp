#pragma once

// A filter as the gate asks it: what its keys are, what is to be done with what it says, and what
// was done.
//
// Distinct objects: safe. Shared objects: safe.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guestlist/base/verdict.hpp"
#include "guestlist/guard/decision.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/membership.hpp"

namespace guestlist {

struct GateCounts {
  std::vector<std::pair<Verdict, std::uint64_t>> verdicts = {};  ///< those that were ever given
  std::uint64_t rejected = 0;
  /// Absent keys that passed because of the mode.
  std::uint64_t would_reject = 0;

  std::uint64_t checks() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& [verdict, count] : verdicts) sum += count;
    return sum;
  }
};

class GatedFilter {
 public:
  /// `key`: the type of each of the key's columns. `is_strict`: what is no spelling of a key is
  /// rejected as an absent one is. Requires: `membership` outlives the filter.
  GatedFilter(std::string name, std::vector<KeyType> key, bool is_strict, Membership& membership)
      : name_(std::move(name)),
        key_(std::move(key)),
        is_strict_(is_strict),
        membership_(membership) {}

  const std::string& name() const noexcept { return name_; }
  const std::vector<KeyType>& key() const noexcept { return key_; }
  bool is_strict() const noexcept { return is_strict_; }
  Membership& membership() const noexcept { return membership_; }

  /// What an operator set for all routes at once; nothing: each route's own.
  std::optional<Mode> mode() const noexcept {
    const int mode = mode_.load(std::memory_order_relaxed);
    return mode < 0 ? std::nullopt : std::optional(static_cast<Mode>(mode));
  }
  void set_mode(std::optional<Mode> mode) noexcept {
    mode_.store(mode ? static_cast<int>(*mode) : -1, std::memory_order_relaxed);
  }

  void count(Verdict verdict, Decision decision) noexcept;
  GateCounts counts() const;

 private:
  static constexpr std::size_t answers = 3;
  static constexpr std::size_t reasons = static_cast<std::size_t>(Reason::switched_off) + 1;

  const std::string name_;
  const std::vector<KeyType> key_;
  const bool is_strict_;
  Membership& membership_;
  std::atomic<int> mode_ = -1;
  // Counters publish nothing else, so relaxed order is enough.
  std::array<std::array<std::atomic<std::uint64_t>, reasons>, answers> verdicts_ = {};
  std::atomic<std::uint64_t> rejected_ = 0;
  std::atomic<std::uint64_t> would_reject_ = 0;
};

}  // namespace guestlist
