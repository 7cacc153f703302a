#pragma once

// One load a key, however many callers want it. The first caller leads: an attempt to load begins.
// The others wait for its answer. A caller that gives up leaves the others untouched. An attempt
// that fails or takes too long hands over to exactly one successor, so a dead leader releases no
// stampede; when the attempts are used up, all who wait are told.
//
// A flight answers for the moment at which it began. When its key is written, it is closed: those
// who wait get its answer, and whoever comes after the write boards a new one.
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
  using Number = std::uint64_t;
  enum class Seat : std::uint8_t {
    leads,    ///< begin attempt 1
    waits,    ///< an attempt is under way
    refused,  ///< a limit is reached; the caller gets `overloaded`
  };
  struct Boarding {
    Seat seat;
    Number flight;
  };
  struct Ended {
    /// Number of the attempt to begin now; nothing where the flight is over.
    std::optional<std::uint32_t> next_attempt;
    /// Whom to tell; empty while the flight goes on.
    std::vector<Waiter> waiters;
  };

  explicit Flights(const FlightLimits& limits = {}) : limits_(limits) {}

  Boarding board(std::string_view key, Waiter waiter) {
    const std::lock_guard lock(mutex_);
    if (const auto open = open_.find(key); open != open_.end()) {
      Flight& flight = flights_.at(open->second);
      if (flight.waiters.size() >= limits_.max_waiters_per_flight) return {Seat::refused, 0};
      flight.waiters.push_back(std::move(waiter));
      return {Seat::waits, open->second};
    }
    if (flights_.size() >= limits_.max_flights) return {Seat::refused, 0};
    const Number number = ++last_number_;
    flights_.emplace(number, Flight{std::string(key), 1, {std::move(waiter)}});
    open_.emplace(key, number);
    return {Seat::leads, number};
  }

  /// The key was written: nobody boards a flight that began before.
  void close(std::string_view key) {
    const std::lock_guard lock(mutex_);
    if (const auto open = open_.find(key); open != open_.end()) open_.erase(open);
  }

  /// The attempt has the answer. Whom to tell; nobody where the attempt had been given up
  /// meanwhile.
  std::vector<Waiter> land(Number number, std::uint32_t attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(number);
    if (found == flights_.end() || found->second.attempt != attempt) return {};
    return end(found);
  }

  /// The attempt failed or took too long.
  Ended attempt_over(Number number, std::uint32_t attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(number);
    if (found == flights_.end() || found->second.attempt != attempt) return {};
    if (attempt < limits_.max_attempts && !found->second.waiters.empty()) {
      return {++found->second.attempt, {}};
    }
    return {std::nullopt, end(found)};
  }

  void give_up(Number number, const Waiter& waiter) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(number);
    if (found != flights_.end()) std::erase(found->second.waiters, waiter);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return flights_.size();
  }

 private:
  struct Flight {
    std::string key;
    std::uint32_t attempt;
    std::vector<Waiter> waiters;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>{}(key);
    }
  };
  using Table = std::unordered_map<Number, Flight>;

  std::vector<Waiter> end(typename Table::iterator flight) {
    const auto open = open_.find(flight->second.key);
    if (open != open_.end() && open->second == flight->first) open_.erase(open);
    std::vector<Waiter> waiters = std::move(flight->second.waiters);
    flights_.erase(flight);
    return waiters;
  }

  FlightLimits limits_;
  mutable std::mutex mutex_;
  Number last_number_ = 0;
  Table flights_;
  std::unordered_map<std::string, Number, Hash, std::equal_to<>> open_;
};

}  // namespace guestlist
