#include "guestlist/guard/local_membership.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "fake_source.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "guestlist/guard/warm_up.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

Verdict check(LocalMembership& membership, std::string_view key) {
  Verdict verdict;
  membership.check(std::span(&key, 1), Deadline::never(),
                   [&](std::span<const Verdict> verdicts) { verdict = verdicts.front(); });
  return verdict;
}

void add(LocalMembership& membership, std::string_view key) {
  bool done = false;
  membership.add(std::span(&key, 1), Deadline::never(),
                 [&](const Result<void>& added) { done = added.has_value(); });
  EXPECT_TRUE(done);
}

void begin(LocalMembership& membership) {
  ASSERT_TRUE(membership.begin_generation(*FilterPlan::make(1000, 0.01),
                                          KeyHasher::siphash(Secret::random())));
}

TEST(LocalMembership, ProvesNothingBeforeAGenerationIsComplete) {
  LocalMembership membership;
  EXPECT_EQ(Verdict::unknown(Reason::building), check(membership, "a"));
  begin(membership);
  EXPECT_EQ(Verdict::unknown(Reason::building), check(membership, "a"));
  membership.publish();
  EXPECT_EQ(Verdict::absent(), check(membership, "a"));
  EXPECT_EQ(1u, membership.status().generation);
}

TEST(LocalMembership, PutsAddsIntoTheGenerationThatIsBeingBuiltToo) {
  LocalMembership membership;
  begin(membership);
  membership.publish();
  begin(membership);
  add(membership, "a");
  membership.publish();
  EXPECT_EQ(Verdict::maybe(), check(membership, "a"));
}

TEST(LocalMembership, ChangesNothingWhenABuildIsAbandoned) {
  LocalMembership membership;
  begin(membership);
  add(membership, "a");
  membership.publish();
  begin(membership);
  membership.abandon();
  EXPECT_EQ(Verdict::maybe(), check(membership, "a"));
  EXPECT_EQ(Verdict::absent(), check(membership, "b"));
}

TEST(LocalMembership, HasOneBuilderAtATime) {
  LocalMembership membership;
  begin(membership);
  const auto second = membership.begin_generation(*FilterPlan::make(1000, 0.01),
                                                  KeyHasher::siphash(Secret::random()));
  EXPECT_EQ(Errc::already_exists, second.error().code);
}

TEST(LocalMembership, WaitsForWritesThatBeganBeforeTheGeneration) {
  LocalMembership membership;
  auto early = membership.begin_write();
  begin(membership);
  const auto late = membership.begin_write();
  EXPECT_EQ(Errc::deadline_exceeded, membership.wait_for_writes(1ms).error().code);
  early.reset();
  EXPECT_TRUE(membership.wait_for_writes(1s));
}

// The write began before two builds; the first of them gave up waiting for it.
TEST(LocalMembership, StillWaitsForAWriteThatAnAbandonedBuildDidNotSeeTheEndOf) {
  LocalMembership membership;
  auto early = membership.begin_write();
  begin(membership);
  EXPECT_FALSE(membership.wait_for_writes(1ms));
  membership.abandon();
  begin(membership);
  EXPECT_FALSE(membership.wait_for_writes(1ms));
  early.reset();
  EXPECT_TRUE(membership.wait_for_writes(1s));
}

TEST(WarmUp, FillsFromTheSourceAndLeavesRoom) {
  fake::FakeSource source;
  for (int i = 0; i < 5000; ++i) source.commit(std::to_string(i), "");
  LocalMembership membership;
  const auto report = warm_up(membership, source);
  ASSERT_TRUE(report);
  EXPECT_EQ(5000u, report->keys);
  EXPECT_EQ(6250u, report->capacity);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(Verdict::maybe(), check(membership, std::to_string(i)));
}

TEST(WarmUp, KeepsWhatIsLiveWhenTheSourceFailsHalfWay) {
  fake::FakeSource source;
  for (int i = 0; i < 500; ++i) source.commit(std::to_string(i), "");
  LocalMembership membership;
  ASSERT_TRUE(warm_up(membership, source));
  source.commit("more", "");
  source.batches.fail_next(1);
  EXPECT_FALSE(warm_up(membership, source));
  EXPECT_EQ(Verdict::maybe(), check(membership, "499"));
  EXPECT_EQ(1u, membership.status().generation);
  EXPECT_FALSE(membership.status().is_building);
}

TEST(WarmUp, DoesNotPublishWhileAnEarlierWriteIsOpen) {
  fake::FakeSource source;
  LocalMembership membership;
  const auto open = membership.begin_write();
  WarmUpOptions options;
  options.wait_for_writes = 1ms;
  EXPECT_EQ(Errc::deadline_exceeded, warm_up(membership, source, options).error().code);
  EXPECT_EQ(Verdict::unknown(Reason::building), check(membership, "a"));
}

TEST(LruValueCache, KeepsWhatWasUsedLastWithinItsBytes) {
  ManualClock clock;
  LruValueCache cache(64 << 10, clock);
  const auto ignore = [](const Result<void>&) {};
  const auto has = [&](const std::string& key) {
    bool found = false;
    cache.get(key, Deadline::never(),
              [&](Result<std::optional<std::string>> value) { found = value->has_value(); });
    return found;
  };
  cache.put("kept", "v", 1h, Deadline::never(), ignore);
  for (int i = 0; i < 10'000; ++i) {
    cache.put(std::to_string(i), std::string(50, 'x'), 1h, Deadline::never(), ignore);
    EXPECT_TRUE(has("kept"));
    ASSERT_LE(cache.size_bytes(), 64u << 10);
  }
  EXPECT_FALSE(has("0"));
  clock.advance(1h);
  EXPECT_FALSE(has("kept"));
  cache.put("huge", std::string(1 << 20, 'x'), 1h, Deadline::never(), ignore);
  EXPECT_FALSE(has("huge"));
}

}  // namespace
}  // namespace guestlist
