#include "guestlist/redis/shared_filter_mirror.hpp"

#include <gtest/gtest.h>

#include "guestlist/servers/redis_server.hpp"
#include "shared_filter_fixture.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class SharedFilterMirrorTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.emplace(required(RedisServer::start()));
    client_ = connect_to("redis://" + server_->address());
    filter_ = required(SharedBloomFilter::make(client_, "f"));
  }

  std::unique_ptr<SharedFilterMirror> fresh_mirror(const SharedFilterMirror::Options& options) {
    auto mirror = std::make_unique<SharedFilterMirror>(client_, filter_, options);
    wait_until([&] { return mirror->status().is_fresh; });
    EXPECT_TRUE(mirror->status().is_fresh);
    return mirror;
  }

  template <class Condition>
  static void wait_until(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  }

  std::optional<RedisServer> server_;
  std::shared_ptr<RedisClient> client_;
  std::shared_ptr<SharedBloomFilter> filter_;
};

TEST_F(SharedFilterMirrorTest, AnswersAsTheFilterDoes) {
  const auto present = numbered_keys("here", 5000);
  ASSERT_TRUE(build_filter(client_, "f", present, {.shards = 3, .lines_per_segment = 50}));
  const auto mirror = fresh_mirror({.confirm = false});
  EXPECT_EQ(count(check(*mirror, present), Verdict::maybe()), present.size());
  const auto others = numbered_keys("other", 5000);
  EXPECT_EQ(check(*mirror, others), check(*filter_, others));
}

TEST_F(SharedFilterMirrorTest, FollowsWhatOthersAdd) {
  ASSERT_TRUE(build_filter(client_, "f", {}));
  const auto mirror = fresh_mirror({.confirm = false});
  ASSERT_EQ(check(*mirror, "new"), Verdict::absent());
  ASSERT_TRUE(add(*filter_, {"new"}));
  wait_until([&] { return check(*mirror, "new") == Verdict::maybe(); });
  EXPECT_EQ(check(*mirror, "new"), Verdict::maybe());
  EXPECT_EQ(mirror->status().followed, 1U);
  EXPECT_EQ(mirror->status().loads, 1U) << "by the log, not by another load";
}

TEST_F(SharedFilterMirrorTest, AConfirmedAbsentIsNeverLate) {
  ASSERT_TRUE(build_filter(client_, "f", {}));
  const auto mirror = fresh_mirror({.confirm = true, .lease = 1h, .follow_every = 1h});
  for (int i = 0; i < 200; ++i) {
    const auto key = fmt::format("key{}", i);
    ASSERT_EQ(check(*mirror, key), check(*filter_, key));
    ASSERT_TRUE(add(*filter_, {key}));
    ASSERT_EQ(check(*mirror, key), Verdict::maybe());
  }
}

TEST_F(SharedFilterMirrorTest, ItsOwnAddsAreThereAtOnce) {
  ASSERT_TRUE(build_filter(client_, "f", {}));
  const auto mirror = fresh_mirror({.confirm = false, .lease = 1h, .follow_every = 1h});
  ASSERT_TRUE(add(*mirror, {"mine"}));
  EXPECT_EQ(check(*mirror, "mine"), Verdict::maybe());
  EXPECT_EQ(check(*filter_, "mine"), Verdict::maybe());
}

TEST_F(SharedFilterMirrorTest, SaysNothingOnItsOwnWhenItsLeaseHasRunOut) {
  ASSERT_TRUE(build_filter(client_, "f", {"here"}));
  const auto mirror = fresh_mirror({.confirm = false, .lease = 200ms});
  ASSERT_EQ(check(*mirror, "other"), Verdict::absent());
  server_->stop();
  std::this_thread::sleep_for(400ms);
  EXPECT_FALSE(mirror->status().is_fresh);
  EXPECT_EQ(check(*mirror, "other", soon(200ms)).answer, Answer::unknown);
  server_->resume();
  wait_until([&] { return mirror->status().is_fresh; });
  EXPECT_EQ(check(*mirror, "other"), Verdict::absent());
}

TEST_F(SharedFilterMirrorTest, TakesOverANewGeneration) {
  ASSERT_TRUE(build_filter(client_, "f", {"a"}));
  const auto mirror = fresh_mirror({.confirm = false, .lease = 300ms});
  ASSERT_TRUE(build_filter(client_, "f", {"b"}, {.shards = 1}));
  wait_until([&] { return check(*mirror, "a") == Verdict::absent(); });
  EXPECT_EQ(check(*mirror, "a"), Verdict::absent());
  EXPECT_EQ(check(*mirror, "b"), Verdict::maybe());
}

TEST_F(SharedFilterMirrorTest, ALostLogMakesItLoadAnew) {
  ASSERT_TRUE(build_filter(client_, "f", {}));
  const auto mirror = fresh_mirror({.confirm = false, .lease = 300ms});
  ASSERT_TRUE(add(*filter_, {"a"}));
  server_->command({"DEL", "guestlist:{f/0}:log"});
  ASSERT_TRUE(add(*filter_, {"b"}));
  wait_until([&] { return check(*mirror, "b") == Verdict::maybe() && mirror->status().is_fresh; });
  EXPECT_EQ(count(check(*mirror, std::vector<std::string>{"a", "b"}), Verdict::maybe()), 2U);
}

TEST_F(SharedFilterMirrorTest, AFilterThatIsGoneIsUnknown) {
  ASSERT_TRUE(build_filter(client_, "f", {"here"}));
  const auto mirror = fresh_mirror({.confirm = false, .lease = 300ms});
  server_->command({"FLUSHALL"});
  wait_until([&] { return !mirror->status().is_fresh; });
  EXPECT_EQ(check(*mirror, "here"), Verdict::unknown(Reason::missing));
}

}  // namespace
}  // namespace guestlist
