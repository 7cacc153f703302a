// The fakes keep the laws of the ports, also the ugly half.

#include <gtest/gtest.h>

#include "fake_followed_source.hpp"
#include "fake_membership.hpp"
#include "fake_source.hpp"
#include "fake_value_cache.hpp"
#include "remote_change_feed_laws.hpp"
#include "remote_membership_laws.hpp"
#include "remote_source_laws.hpp"
#include "remote_value_cache_laws.hpp"

namespace guestlist::laws {
namespace {

class FakeMembershipForm {
 public:
  Membership& complete() { return membership_; }
  Membership& incomplete() {
    membership_.set_reason(Reason::building);
    return membership_;
  }
  void hold_replies() {
    membership_.checking.hold();
    membership_.adding.hold();
  }
  void cut() {
    membership_.checking.lose_waiting();
    membership_.adding.lose_waiting();
  }
  void heal() {
    membership_.checking.release();
    membership_.adding.release();
  }

 private:
  fake::FakeMembership membership_;
};

class FakeValueCacheForm {
 public:
  ValueCache& cache() { return cache_; }
  void pass(Duration time) { clock_.advance(time); }
  void hold_replies() {
    for (fake::Gate* gate : gates_) gate->hold();
  }
  void cut() {
    for (fake::Gate* gate : gates_) gate->lose_waiting();
  }
  void heal() {
    for (fake::Gate* gate : gates_) gate->release();
  }

 private:
  ManualClock clock_;
  fake::FakeValueCache cache_{clock_};
  std::array<fake::Gate*, 3> gates_{&cache_.getting, &cache_.putting, &cache_.erasing};
};

class FakeSourceForm {
 public:
  Source& source() { return source_; }
  void commit(const Rows& rows) {
    for (const auto& [key, value] : rows) source_.commit(key, value);
  }
  void remove(const std::string& key) { source_.remove(key); }
  void hold_replies() { source_.loading.hold(); }
  void cut() {
    source_.loading.lose_waiting();
    source_.batches.fail_next(1);
  }
  void heal() { source_.loading.release(); }

 private:
  fake::FakeSource source_;
};

class FakeFollowedSourceForm {
 public:
  FollowedSource& source() { return source_; }
  void commit(const Rows& rows) {
    for (const auto& [key, value] : rows) source_.commit(key, value);
  }
  void remove(const std::string& key) { source_.remove(key); }
  void change_key(const std::string& from, const std::string& to) {
    source_.remove(from);
    source_.commit(to, "");
  }
  void lose_changes() { source_.lose_changes(); }
  void cut() { source_.cut(); }
  void heal() {}

 private:
  fake::FakeFollowedSource source_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Fake, ChangeFeedLaws, FakeFollowedSourceForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteChangeFeedLaws, FakeFollowedSourceForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, MembershipLaws, FakeMembershipForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteMembershipLaws, FakeMembershipForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, ValueCacheLaws, FakeValueCacheForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteValueCacheLaws, FakeValueCacheForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, SourceLaws, FakeSourceForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteSourceLaws, FakeSourceForm);

TEST(FakeFollowedSource, ACommitIsSeenWhenItWasAcknowledgedAndNotBefore) {
  fake::FakeFollowedSource source;
  source.commit_synchronously();
  Following following(source);
  std::thread writer([&] { source.commit("a", "1"); });
  EXPECT_TRUE(eventually([&] { return following.next() && following.keys.contains("a"); }));
  EXPECT_EQ(std::nullopt, load(source, "a").value());
  std::thread builder([&] { EXPECT_TRUE((*source.snapshot())->count() == 1u); });
  EXPECT_TRUE(following.feed().acknowledge(following.position));
  writer.join();
  builder.join();
  EXPECT_EQ("1", load(source, "a").value());
}

TEST(FakeFollowedSource, HoldsChangesAndThenNoMoreSaysThatAllHasCome) {
  fake::FakeFollowedSource source;
  Following following(source);
  EXPECT_TRUE(following.next());
  source.hold_changes();
  source.commit("a", "1");
  const auto as_of = following.as_of;
  EXPECT_TRUE(following.next());
  EXPECT_TRUE(following.keys.empty());
  EXPECT_EQ(as_of, following.as_of);
  source.release_changes();
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("a"));
}

}  // namespace
}  // namespace guestlist::laws
