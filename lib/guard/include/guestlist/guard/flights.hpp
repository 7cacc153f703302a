#pragma once

// One load a key, however many callers want it. The first caller leads: an attempt to load begins.
// The others wait for its answer. A caller that gives up leaves the others untouched. An attempt
// that fails or takes too long hands over to exactly one successor, so a dead leader releases no
// stampede; when the attempts are used up, all who wait are told.
//
// Pure: no I/O, no clock; the shell starts attempts and says how they ended. Bounded: so many
// flights, so many waiters each. Distinct objects: safe. Shared objects: safe, behind one lock.
// Tested by: Flights.*

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace guestlist {

struct FlightLimits {
  std::size_t max_flights = 10'000;
  std::size_t max_waiters_per_flight = 10'000;
  std::uint32_t max_attempts = 2;
};

/// Waiter: a handle that can be copied and compared.
template <class Waiter>
class Flights {
 public:
  enum class Seat {
    leads,    ///< begin attempt 1
    waits,    ///< an attempt is under way
    refused,  ///< a limit is reached; the caller gets `overloaded`
  };
  struct Ended {
    /// Number of the attempt to begin now; nothing where the flight is over.
    std::optional<std::uint32_t> next_attempt;
    /// Whom to tell; empty while the flight goes on.
    std::vector<Waiter> waiters;
  };

  explicit Flights(const FlightLimits& limits = {}) : limits_(limits) {}

  Seat join(std::string_view key, Waiter waiter) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found != flights_.end()) {
      if (found->second.waiters.size() >= limits_.max_waiters_per_flight) return Seat::refused;
      found->second.waiters.push_back(std::move(waiter));
      return Seat::waits;
    }
    if (flights_.size() >= limits_.max_flights) return Seat::refused;
    flights_.emplace(key, Flight{1, {std::move(waiter)}});
    return Seat::leads;
  }

  /// The attempt has the answer. Whom to tell; nobody where the attempt had been given up
  /// meanwhile.
  std::vector<Waiter> land(std::string_view key, std::uint32_t attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found == flights_.end() || found->second.attempt != attempt) return {};
    std::vector<Waiter> waiters = std::move(found->second.waiters);
    flights_.erase(found);
    return waiters;
  }

  /// The attempt failed or took too long.
  Ended attempt_over(std::string_view key, std::uint32_t attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found == flights_.end() || found->second.attempt != attempt) return {};
    if (attempt < limits_.max_attempts && !found->second.waiters.empty()) {
      return {++found->second.attempt, {}};
    }
    Ended ended{std::nullopt, std::move(found->second.waiters)};
    flights_.erase(found);
    return ended;
  }

  void give_up(std::string_view key, const Waiter& waiter) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found != flights_.end()) std::erase(found->second.waiters, waiter);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return flights_.size();
  }

 private:
  struct Flight {
    std::uint32_t attempt;
    std::vector<Waiter> waiters;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>{}(key);
    }
  };

  FlightLimits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Flight, Hash, std::equal_to<>> flights_;
};

}  // namespace guestlist
