#include "guestlist/guard/guard.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "fake_membership.hpp"
#include "fake_source.hpp"
#include "fake_value_cache.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using Outcome = Lookup::Outcome;
using Origin = Lookup::Origin;

/// A guard whose every neighbour is scripted and whose time stands still.
class GuardTest : public testing::Test {
 protected:
  GuardTest() { options_.own_timer_thread = false; }

  Guard& guard() {
    if (!guard_) guard_.emplace(options_, membership_, cache_, source_, clock_);
    return *guard_;
  }
  Deadline soon() const { return Deadline::after(1s, clock_); }
  Result<Lookup> get(std::string_view key) { return guard().get(key, soon()); }
  /// Begins a read whose answer may come later.
  std::shared_ptr<std::optional<Result<Lookup>>> begin_get(std::string_view key,
                                                           Duration time = 1s) {
    auto answer = std::make_shared<std::optional<Result<Lookup>>>();
    guard().get(key, Deadline::after(time, clock_),
                [answer](Result<Lookup> lookup) { answer->emplace(std::move(lookup)); });
    return answer;
  }
  void exists(const std::string& key, const std::string& value) {
    membership_.add(std::vector<std::string_view>{key}, soon(), [](const Result<void>&) {});
    source_.commit(key, value);
  }
  std::uint64_t count(GuardEvent event) { return guard().statistics()[event]; }

  ManualClock clock_;
  fake::FakeMembership membership_;
  fake::FakeValueCache cache_{clock_};
  fake::FakeSource source_;
  GuardOptions options_;
  std::optional<Guard> guard_;
};

TEST_F(GuardTest, FindsWhatExistsAndAsksTheSourceOnce) {
  exists("a", "1");
  const auto first = get("a");
  ASSERT_TRUE(first);
  EXPECT_EQ(Outcome::found, first->outcome);
  EXPECT_EQ(Origin::source, first->origin);
  EXPECT_EQ("1", first->value);
  EXPECT_EQ(Origin::value_cache, get("a")->origin);
  EXPECT_EQ(1, source_.loads);
}

TEST_F(GuardTest, RejectsProvenAbsentsBeyondTheBudgetBeforeAnythingElseIsTouched) {
  options_.budget_per_second = 3;
  for (int i = 0; i < 10; ++i) {
    const auto lookup = get("absent-" + std::to_string(i));
    EXPECT_EQ(i < 3 ? Outcome::not_found : Outcome::rejected, lookup->outcome) << i;
  }
  EXPECT_EQ(3, source_.loads);
  EXPECT_EQ(7u, count(GuardEvent::rejected));
  EXPECT_EQ(3u, count(GuardEvent::audit));
}

TEST_F(GuardTest, RejectsNothingInShadowAndCountsWhatItWould) {
  options_.mode = Mode::shadow;
  options_.budget_per_second = 0;
  EXPECT_EQ(Outcome::not_found, get("absent")->outcome);
  EXPECT_EQ(1u, count(GuardEvent::would_reject));
  guard().set_mode(Mode::pass);
  EXPECT_EQ(Outcome::not_found, get("absent-2")->outcome);
  EXPECT_EQ(1u, count(GuardEvent::would_reject));
}

TEST_F(GuardTest, EnforcesForTheShareOfKeysItIsTold) {
  options_.budget_per_second = 0;
  options_.enforced_percent = 30;
  int rejected = 0;
  for (int i = 0; i < 2000; ++i)
    rejected += get("absent-" + std::to_string(i))->outcome == Outcome::rejected;
  EXPECT_NEAR(600, rejected, 120);
  EXPECT_EQ(get("absent-7")->outcome, get("absent-7")->outcome);
}

TEST_F(GuardTest, PassesWhateverIsNotProven) {
  options_.budget_per_second = 0;
  source_.commit("a", "1");  // never added: any doubt must lead to the source
  for (const Reason reason : {Reason::missing, Reason::building, Reason::incomplete, Reason::stale,
                              Reason::mismatched, Reason::corrupt, Reason::unreachable}) {
    membership_.set_reason(reason);
    const auto lookup = get("a");
    EXPECT_EQ(Outcome::found, lookup->outcome) << name(reason);
    EXPECT_EQ(reason, lookup->verdict.reason);
  }
}

TEST_F(GuardTest, GoesOnWithoutAFilterThatDoesNotAnswer) {
  source_.commit("a", "1");
  membership_.checking.hold();
  const auto answer = begin_get("a");
  EXPECT_FALSE(*answer);
  clock_.advance(options_.check_timeout);
  guard().run_timers();
  ASSERT_TRUE(*answer);
  EXPECT_EQ(Outcome::found, (**answer)->outcome);
  EXPECT_EQ(Verdict::unknown(Reason::deadline), (**answer)->verdict);
  membership_.checking.release();  // too late, and changes nothing
}

TEST_F(GuardTest, GoesOnWithoutACacheThatFailsOrDoesNotAnswer) {
  exists("a", "1");
  cache_.getting.fail_next(1);
  EXPECT_EQ(Origin::source, get("a")->origin);
  cache_.getting.hold();
  const auto answer = begin_get("a");
  clock_.advance(options_.cache_timeout);
  guard().run_timers();
  ASSERT_TRUE(*answer);
  EXPECT_EQ(Outcome::found, (**answer)->outcome);
  cache_.getting.release();
}

TEST_F(GuardTest, RemembersANullAndFindsTheRowAtOnceWhenItIsWritten) {
  EXPECT_EQ(Origin::source, get("a")->origin);
  EXPECT_EQ(Origin::null_cache, get("a")->origin);
  ASSERT_TRUE(guard().write(
      "a",
      [&] {
        source_.commit("a", "1");
        return Result<void>();
      },
      soon()));
  EXPECT_EQ(Outcome::found, get("a")->outcome);
}

TEST_F(GuardTest, FindsARowThatAnotherPathWroteOnceItIsInvalidated) {
  EXPECT_TRUE(get("a"));
  exists("a", "1");
  guard().invalidate("a", soon(), [](const Result<void>&) {});
  EXPECT_EQ(Outcome::found, get("a")->outcome);
}

TEST_F(GuardTest, RefusesANullThatWasReadBeforeTheRowWasCommitted) {
  source_.loading.hold();
  const auto before = begin_get("a");  // the loader has seen "nothing" and is slow to say so
  ASSERT_TRUE(guard().write(
      "a",
      [&] {
        source_.commit("a", "1");
        return Result<void>();
      },
      soon()));
  source_.loading.release();
  EXPECT_EQ(Outcome::not_found, (**before)->outcome);
  EXPECT_EQ(1u, count(GuardEvent::refused_null));
  EXPECT_EQ(Outcome::found, get("a")->outcome);
}

// The load has read "nothing" and has not landed when the write returns.
TEST_F(GuardTest, FindsARowThatWasWrittenWhileAnOlderLoadIsStillUnderWay) {
  source_.loading.hold();
  const auto before = begin_get("a");
  const auto written = guard().write(
      "a",
      [&] {
        source_.commit("a", "1");
        return Result<void>();
      },
      soon());
  EXPECT_TRUE(written);
  const auto after = begin_get("a");
  source_.loading.release();
  EXPECT_EQ(Outcome::not_found, (**before)->outcome);
  EXPECT_EQ(Outcome::found, (**after)->outcome);
}

TEST_F(GuardTest, DoesNotCacheAValueThatWasReadBeforeAWrite) {
  exists("a", "old");
  source_.loading.hold();
  const auto before = begin_get("a");
  ASSERT_TRUE(guard().write(
      "a",
      [&] {
        source_.commit("a", "new");
        return Result<void>();
      },
      soon()));
  source_.loading.release();
  EXPECT_EQ("old", (**before)->value);
  EXPECT_EQ("new", get("a")->value);
}

TEST_F(GuardTest, DropsAValueWhosePutArrivedAfterTheWrite) {
  exists("a", "old");
  cache_.putting.hold();
  EXPECT_TRUE(get("a"));  // its put has happened, the answer has not come
  const auto written = guard().write(
      "a",
      [&] {
        source_.commit("a", "new");
        return Result<void>();
      },
      soon());
  EXPECT_TRUE(written);
  cache_.putting.release();
  EXPECT_EQ("new", get("a")->value);
}

TEST_F(GuardTest, AddsBeforeItCommitsAndDoesNotCommitWhereTheAddFailed) {
  bool was_listed = false;
  ASSERT_TRUE(guard().write(
      "a",
      [&] {
        was_listed = membership_.has("a");
        return Result<void>();
      },
      soon()));
  EXPECT_TRUE(was_listed);
  membership_.adding.fail_next(1);
  bool committed = false;
  const auto refused = guard().write(
      "b",
      [&] {
        committed = true;
        return Result<void>();
      },
      soon());
  EXPECT_FALSE(refused);
  EXPECT_FALSE(committed);
}

TEST_F(GuardTest, DropsWhatItKnowsAlsoWhenTheCommitSeemsToHaveFailed) {
  EXPECT_TRUE(get("a"));
  const auto written = guard().write(
      "a",
      [&]() -> Result<void> {
        source_.commit("a", "1");  // it happened; the reply was lost
        return fail(Errc::unavailable, "connection lost");
      },
      soon());
  EXPECT_FALSE(written);
  EXPECT_EQ(Outcome::found, get("a")->outcome);
}

TEST_F(GuardTest, SendsOneLoadForManyCallers) {
  exists("a", "1");
  source_.loading.hold();
  std::vector<std::shared_ptr<std::optional<Result<Lookup>>>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(begin_get("a"));
  EXPECT_EQ(1, source_.loads);
  source_.loading.release();
  for (const auto& answer : answers) EXPECT_EQ("1", (**answer)->value);
  EXPECT_EQ(99u, count(GuardEvent::joined));
}

TEST_F(GuardTest, LetsACallerGiveUpWithoutFailingTheOthers) {
  exists("a", "1");
  source_.loading.hold();
  const auto hasty = begin_get("a", 10ms);
  const auto patient = begin_get("a", 1s);
  clock_.advance(10ms);
  guard().run_timers();
  ASSERT_TRUE(*hasty);
  EXPECT_EQ(Errc::deadline_exceeded, (**hasty).error().code);
  source_.loading.release();
  EXPECT_EQ("1", (**patient)->value);
}

TEST_F(GuardTest, ReplacesALeaderThatDiesByOneSuccessor) {
  exists("a", "1");
  source_.loading.hold();
  std::vector<std::shared_ptr<std::optional<Result<Lookup>>>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(begin_get("a", 60s));
  clock_.advance(options_.load_timeout);
  guard().run_timers();
  EXPECT_EQ(2, source_.loads);
  source_.loading.release();
  for (const auto& answer : answers) EXPECT_EQ("1", (**answer)->value);
}

TEST_F(GuardTest, TriesAgainOnceWhenTheSourceFails) {
  exists("a", "1");
  source_.loading.fail_next(1);
  EXPECT_EQ("1", get("a")->value);
  source_.loading.fail_next(2);
  exists("b", "1");
  EXPECT_EQ(Errc::unavailable, get("b").error().code);
  EXPECT_EQ("1", get("b")->value);  // a failure is not remembered as a null
}

TEST_F(GuardTest, TellsCallersWhenALimitIsReachedAndNeverCallsThemAbsent) {
  options_.flights.max_flights = 1;
  exists("a", "1");
  exists("b", "1");
  source_.loading.hold();
  const auto first = begin_get("a");
  EXPECT_EQ(Errc::overloaded, get("b").error().code);
  source_.loading.release();
  EXPECT_TRUE(**first);
}

TEST_F(GuardTest, RepairsCountsAndReportsAKeyThatTheFilterDenied) {
  std::string reported;
  options_.on_false_negative = [&](std::string_view key) { reported = key; };
  exists("a", "1");
  membership_.forget("a");
  EXPECT_EQ(Outcome::found, get("a")->outcome);  // within the budget: the audit finds it
  EXPECT_EQ(1u, count(GuardEvent::false_negative));
  EXPECT_EQ("a", reported);
  EXPECT_TRUE(membership_.has("a"));
}

TEST_F(GuardTest, CountsNoFaultWhereTheKeyWasAddedWhileItLooked) {
  source_.loading.hold();
  source_.commit("a", "1");
  const auto answer = begin_get("a");
  membership_.add(std::vector<std::string_view>{"a"}, soon(), [](const Result<void>&) {});
  source_.loading.release();
  EXPECT_EQ(Outcome::found, (**answer)->outcome);
  EXPECT_EQ(0u, count(GuardEvent::false_negative));
}

TEST_F(GuardTest, SpreadsTheLifetimesOfValuesWithinTheJitter) {
  std::set<Duration::rep> seen;
  for (int i = 0; i < 100; ++i) {
    exists(std::to_string(i), "v");
    EXPECT_TRUE(get(std::to_string(i)));
    const Duration lifetime = cache_.last_time_to_live;
    EXPECT_GE(lifetime, options_.value_time_to_live * 9 / 10);
    EXPECT_LE(lifetime, options_.value_time_to_live * 11 / 10);
    seen.insert(lifetime.count());
  }
  EXPECT_GT(seen.size(), 90u);
}

TEST_F(GuardTest, AnswersAtOnceWhereTheDeadlineIsOver) {
  EXPECT_EQ(Errc::deadline_exceeded, guard().get("a", Deadline{clock_.now()}).error().code);
  EXPECT_EQ(0, membership_.checks);
}

}  // namespace
}  // namespace guestlist
