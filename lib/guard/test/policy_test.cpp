// The guard's pure pieces, each alone, with time as a value.

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "guestlist/guard/budget.hpp"
#include "guestlist/guard/decision.hpp"
#include "guestlist/guard/flights.hpp"
#include "guestlist/guard/null_cache.hpp"
#include "guestlist/guard/timers.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since_start) {
  return TimePoint(1h + since_start);
}

TEST(Budget, LetsOneSecondsWorthPassAtOnceAndThenTheRate) {
  Budget budget(50);
  int passed = 0;
  for (int i = 0; i < 1000; ++i) passed += budget.take(at(0s));
  EXPECT_EQ(50, passed);
  for (int i = 0; i < 1000; ++i) passed += budget.take(at(100ms));
  EXPECT_EQ(55, passed);
}

TEST(Budget, NeverExceedsTheRateOverALongTimePlusOneSecondsWorth) {
  Budget budget(50);
  int passed = 0;
  for (Duration t = 0ms; t < 10s; t += 1ms) passed += budget.take(at(t)) + budget.take(at(t));
  EXPECT_LE(passed, 50 * 10 + 50);
  EXPECT_GE(passed, 50 * 10);
}

TEST(Budget, DoesNotSaveUpMoreThanASecond) {
  Budget budget(50);
  int passed = 0;
  for (int i = 0; i < 1000; ++i) passed += budget.take(at(24h));
  EXPECT_EQ(50, passed);
}

TEST(Budget, OfZeroLetsNothingPass) {
  Budget budget(0);
  EXPECT_FALSE(budget.take(at(0s)));
}

TEST(Budget, IsSharedExactlyByThreads) {
  Budget budget(1000);
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) passed += budget.take(at(0s));
      });
    }
  }
  EXPECT_EQ(1000, passed);
}

TEST(Decision, RejectsOnlyWhatIsProvenAndEnforcedAndBeyondTheBudget) {
  const Verdict verdicts[] = {Verdict::maybe(), Verdict::absent(), Verdict::unknown(Reason::stale)};
  for (const Verdict verdict : verdicts) {
    for (const Mode mode : {Mode::shadow, Mode::enforce, Mode::pass}) {
      for (const std::uint32_t percent : {0U, 50U, 100U}) {
        for (const bool within : {false, true}) {
          const bool rejects = decide(verdict, mode, percent, 49, within) == Decision::reject;
          EXPECT_EQ(verdict.is_absent() && mode == Mode::enforce && percent > 49 && !within,
                    rejects);
        }
      }
    }
  }
}

TEST(NullCache, KnowsANullUntilItsTimeIsOver) {
  NullCache nulls(1 << 20, 60s);
  ASSERT_TRUE(nulls.remember("a", nulls.begin_load("a"), at(0s)));
  EXPECT_TRUE(nulls.knows("a", at(59s)));
  EXPECT_FALSE(nulls.knows("b", at(0s)));
  EXPECT_FALSE(nulls.knows("a", at(60s)));
  EXPECT_EQ(0u, nulls.count());
}

TEST(NullCache, RefusesANullThatWasReadBeforeAWrite) {
  NullCache nulls(1 << 20, 60s);
  const auto lease = nulls.begin_load("a");
  nulls.invalidate("a");  // the row was committed while the loader looked
  EXPECT_FALSE(nulls.remember("a", lease, at(0s)));
  EXPECT_FALSE(nulls.knows("a", at(0s)));
  EXPECT_TRUE(nulls.remember("a", nulls.begin_load("a"), at(0s)));
}

TEST(NullCache, ForgetsANullWhenTheKeyIsWritten) {
  NullCache nulls(1 << 20, 60s);
  nulls.remember("a", nulls.begin_load("a"), at(0s));
  nulls.invalidate("a");
  EXPECT_FALSE(nulls.knows("a", at(0s)));
}

TEST(NullCache, StaysWithinItsBytesUnderAMillionAbsentKeys) {
  constexpr std::uint64_t capacity = 1 << 20;
  NullCache nulls(capacity, 60s);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string key = "absent-key-number-" + std::to_string(i);
    nulls.remember(key, nulls.begin_load(key), at(0s));
  }
  EXPECT_LE(nulls.size_bytes(), capacity);
  EXPECT_GT(nulls.size_bytes(), capacity / 2);
}

TEST(NullCache, DoesNotTakeAKeyThatAloneExceedsIt) {
  NullCache nulls(1 << 16, 60s);
  const std::string huge(1 << 20, 'x');
  EXPECT_FALSE(nulls.remember(huge, nulls.begin_load(huge), at(0s)));
  EXPECT_EQ(0u, nulls.size_bytes());
}

using TestFlights = Flights<int>;
using Seat = TestFlights::Seat;

TEST(Flights, HaveOneLeaderAKeyAndTellEveryoneWhoWaits) {
  TestFlights flights;
  const auto first = flights.board("a", 1);
  EXPECT_EQ(Seat::leads, first.seat);
  const auto second = flights.board("a", 2);
  EXPECT_EQ(Seat::waits, second.seat);
  EXPECT_EQ(first.flight, second.flight);
  EXPECT_EQ(Seat::leads, flights.board("b", 3).seat);
  EXPECT_EQ((std::vector<int>{1, 2}), flights.land(first.flight, 1));
  EXPECT_EQ(Seat::leads, flights.board("a", 4).seat);
}

TEST(Flights, KeepTheOthersWhenACallerGivesUp) {
  TestFlights flights;
  const auto flight = flights.board("a", 1).flight;
  flights.board("a", 2);
  flights.give_up(flight, 1);
  EXPECT_EQ((std::vector<int>{2}), flights.land(flight, 1));
}

TEST(Flights, TakeNobodyAboardWhoComesAfterAWrite) {
  TestFlights flights;
  const auto before = flights.board("a", 1).flight;
  flights.close("a");
  const auto after = flights.board("a", 2);
  EXPECT_EQ(Seat::leads, after.seat);
  EXPECT_EQ((std::vector<int>{1}), flights.land(before, 1));
  EXPECT_EQ(Seat::waits, flights.board("a", 3).seat);
  EXPECT_EQ((std::vector<int>{2, 3}), flights.land(after.flight, 1));
  EXPECT_EQ(0u, flights.size());
}

TEST(Flights, HandOverToOneSuccessorWhenAnAttemptFails) {
  TestFlights flights;
  const auto flight = flights.board("a", 1).flight;
  flights.board("a", 2);
  const auto first = flights.attempt_over(flight, 1);
  EXPECT_EQ(2u, first.next_attempt);
  EXPECT_TRUE(first.waiters.empty());
  // The dead leader's timer and its late answer count no more.
  EXPECT_FALSE(flights.attempt_over(flight, 1).next_attempt);
  EXPECT_TRUE(flights.land(flight, 1).empty());
  EXPECT_EQ((std::vector<int>{1, 2}), flights.land(flight, 2));
}

TEST(Flights, TellEveryoneWhenTheAttemptsAreUsedUp) {
  TestFlights flights;
  const auto flight = flights.board("a", 1).flight;
  flights.board("a", 2);
  flights.attempt_over(flight, 1);
  const auto last = flights.attempt_over(flight, 2);
  EXPECT_FALSE(last.next_attempt);
  EXPECT_EQ((std::vector<int>{1, 2}), last.waiters);
  EXPECT_EQ(0u, flights.size());
}

TEST(Flights, DoNotTryAgainWhenNobodyWaitsAnyMore) {
  TestFlights flights;
  const auto flight = flights.board("a", 1).flight;
  flights.give_up(flight, 1);
  EXPECT_FALSE(flights.attempt_over(flight, 1).next_attempt);
  EXPECT_EQ(0u, flights.size());
}

TEST(Flights, RefuseWhatExceedsTheirLimits) {
  TestFlights flights({.max_flights = 1, .max_waiters_per_flight = 2, .max_attempts = 2});
  flights.board("a", 1);
  flights.board("a", 2);
  EXPECT_EQ(Seat::refused, flights.board("a", 3).seat);
  EXPECT_EQ(Seat::refused, flights.board("b", 4).seat);
}

TEST(Timers, RunWhatIsDueEarliestFirstAndOnce) {
  Timers timers;
  std::vector<int> ran;
  timers.at(at(2s), [&] { ran.push_back(2); });
  timers.at(at(1s), [&] { ran.push_back(1); });
  timers.at(at(9s), [&] { ran.push_back(9); });
  timers.run_due(at(2s));
  timers.run_due(at(2s));
  EXPECT_EQ((std::vector<int>{1, 2}), ran);
}

}  // namespace
}  // namespace guestlist
