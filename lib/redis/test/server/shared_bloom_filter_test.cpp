#include "guestlist/redis/shared_bloom_filter.hpp"

#include <gtest/gtest.h>

#include "guestlist/servers/redis_server.hpp"
#include "shared_filter_fixture.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class SharedBloomFilterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(required(RedisServer::start())); }
  static void TearDownTestSuite() { delete server_; }

  void SetUp() override {
    server_->command({"FLUSHALL"});
    client_ = connect_to("redis://" + server_->address());
    filter_ = required(SharedBloomFilter::make(client_, "products"));
  }

  static std::string live_segment(int index) {
    return fmt::format(
        "guestlist:{{products/0}}:{}:{}",
        server_->command({"HGET", "guestlist:{products/0}:state", "generation"}).text, index);
  }

  static RedisServer* server_;
  std::shared_ptr<RedisClient> client_;
  std::shared_ptr<SharedBloomFilter> filter_;
};

RedisServer* SharedBloomFilterTest::server_ = nullptr;

TEST_F(SharedBloomFilterTest, FindsEachKeyThatWasLoadedAndDeniesMostOthers) {
  for (const std::uint32_t shards : {1U, 5U}) {
    server_->command({"FLUSHALL"});
    const auto present = numbered_keys("here", 10'000);
    const auto report =
        build_filter(client_, "products", present, {.shards = shards, .lines_per_segment = 100});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(count(check(*filter_, present), Verdict::maybe()), present.size());
    const auto others = check(*filter_, numbered_keys("other", 10'000));
    const auto positives = count(others, Verdict::maybe());
    EXPECT_EQ(count(others, Verdict::absent()) + positives, others.size());
    // n = 10,000, p = 0.01, z = 5
    EXPECT_LT(positives, 100 + 5 * 10) << shards;
  }
}

TEST_F(SharedBloomFilterTest, FindsWhatWasAddedAfterwards) {
  ASSERT_TRUE(build_filter(client_, "products", {}, {.shards = 3}));
  const auto keys = numbered_keys("new", 1000);
  ASSERT_TRUE(add(*filter_, keys));
  EXPECT_EQ(count(check(*filter_, keys), Verdict::maybe()), keys.size());
  const auto other = required(SharedBloomFilter::make(client_, "products"));
  EXPECT_EQ(count(check(*other, keys), Verdict::maybe()), keys.size()) << "another process";
}

TEST_F(SharedBloomFilterTest, CountsWhatWasNew) {
  ASSERT_TRUE(build_filter(client_, "products", {}));
  const auto added = [&](const std::vector<std::string>& keys) {
    return *wait_for<std::uint64_t>(
        [&](const auto& done) { filter_->add_counted(views_of(keys), soon(), done); });
  };
  EXPECT_EQ(added({"a", "b", "a"}), 2U);
  EXPECT_EQ(added({"a", "b", "c"}), 1U);
  EXPECT_EQ(added({}), 0U);
}

TEST_F(SharedBloomFilterTest, TakesAnyBytesAsAKey) {
  ASSERT_TRUE(build_filter(client_, "products", {}));
  const std::vector<std::string> keys = {"", std::string(3, '\0'), "\xff\xfe", "a\r\nb",
                                         std::string(1'000'000, 'x')};
  ASSERT_TRUE(add(*filter_, keys));
  EXPECT_EQ(count(check(*filter_, keys), Verdict::maybe()), keys.size());
}

TEST_F(SharedBloomFilterTest, SaysUnknownWhereThereIsNoFilterAndCreatesNone) {
  EXPECT_EQ(check(*filter_, "key"), Verdict::unknown(Reason::missing));
  const auto added = add(*filter_, {"key"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::not_found) << added.error().message();
  EXPECT_EQ(server_->command({"DBSIZE"}).integer, 0);
}

TEST_F(SharedBloomFilterTest, SaysBuildingUntilTheFirstGenerationIsComplete) {
  auto builder = required(SharedFilterBuilder::begin(client_, "products", build_options({})));
  EXPECT_EQ(check(*filter_, "key"), Verdict::unknown(Reason::building));
  ASSERT_TRUE(add(*filter_, {"added meanwhile"})) << "it is in the log";
  ASSERT_TRUE(builder.publish());
  EXPECT_EQ(check(*filter_, "key"), Verdict::absent());
  EXPECT_EQ(check(*filter_, "added meanwhile"), Verdict::maybe());
}

TEST_F(SharedBloomFilterTest, NeverSaysAbsentWhenAKeyOfItIsGone) {
  const auto present = numbered_keys("here", 1000);
  const auto lose = [&](std::vector<std::string> command) {
    server_->command({"FLUSHALL"});
    ASSERT_TRUE(build_filter(client_, "products", present, {.lines_per_segment = 40}));
    ASSERT_EQ(check(*filter_, "here1"), Verdict::maybe());
    for (auto& word : command) {
      if (word.starts_with("segment ")) {
        word = live_segment(word.back() - '0');
      }
    }
    ASSERT_FALSE(server_->command(command).is_error());
    EXPECT_EQ(count(check(*filter_, present), Verdict::absent()), 0U) << command[0] << command[1];
    EXPECT_EQ(count(check(*filter_, present), Verdict::absent()), 0U) << "the second time";
  };
  lose({"DEL", "guestlist:{products/0}:state"});
  lose({"DEL", "segment 0"});
  lose({"RENAME", "segment 0", "elsewhere"});
  lose({"SET", "segment 1", "short"});
  lose({"SETRANGE", "guestlist:{products/0}:state2", "1", "x"});
  lose({"HSET", "guestlist:{products/0}:state", "epoch", "ffff-1"});
  lose({"HSET", "guestlist:{products/0}:state", "format", "2"});
  lose({"HDEL", "guestlist:{products/0}:state", "generation"});
  lose({"FLUSHALL", "SYNC"});
  lose({"SWAPDB", "0", "5"});
}

TEST_F(SharedBloomFilterTest, SaysMismatchedWhereTheKeyIsSomebodyElses) {
  server_->command({"SET", "guestlist:{products/0}:state", "mine"});
  EXPECT_EQ(check(*filter_, "key"), Verdict::unknown(Reason::mismatched));
  EXPECT_EQ(add(*filter_, {"key"}).error().code, Errc::mismatched);
  server_->command({"DEL", "guestlist:{products/0}:state"});
  server_->command({"HSET", "guestlist:{products/0}:state", "color", "blue"});
  EXPECT_EQ(check(*filter_, "key"), Verdict::unknown(Reason::mismatched));
}

TEST_F(SharedBloomFilterTest, RefusesToAddWhereASegmentIsGone) {
  ASSERT_TRUE(build_filter(client_, "products", {}));
  ASSERT_TRUE(add(*filter_, {"a"}));
  server_->command({"DEL", live_segment(0)});
  const auto added = add(*filter_, {"b"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::corrupt) << added.error().message();
  EXPECT_EQ(server_->command({"EXISTS", live_segment(0)}).integer, 0);
}

TEST_F(SharedBloomFilterTest, DistrustsAServerThatWasRestarted) {
  auto server = required(RedisServer::start({.appendonly = true}));
  const auto client = connect_to("redis://" + server.address());
  const auto filter = required(SharedBloomFilter::make(client, "f"));
  const auto present = numbered_keys("here", 100);
  ASSERT_TRUE(build_filter(client, "f", present));
  ASSERT_EQ(check(*filter, "other"), Verdict::absent());
  required(server.restart());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(count(check(*filter, present), Verdict::absent()), 0U);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(check(*filter, "here1"), Verdict::unknown(Reason::incomplete));
  ASSERT_TRUE(add(*filter, {"later"})) << "adds go on";
  const auto report = build_filter(client, "f", present);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(check(*filter, "here1"), Verdict::maybe());
  EXPECT_EQ(check(*filter, "later"), Verdict::maybe());
  EXPECT_EQ(check(*filter, "other"), Verdict::absent());
}

TEST_F(SharedBloomFilterTest, IsDroppedWhole) {
  const auto present = numbered_keys("here", 1000);
  ASSERT_TRUE(build_filter(client_, "products", present, {.shards = 2, .lines_per_segment = 4}));
  ASSERT_TRUE(add(*filter_, {"x", "y", "z"}));
  const auto before = server_->command({"DBSIZE"}).integer;
  EXPECT_GT(before, 40);
  const auto removed = drop_shared_filter(*client_, "products");
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(static_cast<std::int64_t>(*removed), before);
  EXPECT_EQ(server_->command({"DBSIZE"}).integer, 0);
  EXPECT_EQ(check(*filter_, "here1"), Verdict::unknown(Reason::missing));
  EXPECT_EQ(drop_shared_filter(*client_, "products").error().code, Errc::not_found);
}

TEST_F(SharedBloomFilterTest, SaysIncompleteOnceItIsDistrusted) {
  ASSERT_TRUE(build_filter(client_, "products", {"here"}));
  ASSERT_EQ(check(*filter_, "other"), Verdict::absent());
  ASSERT_TRUE(distrust_shared_filter(*client_, "products", "an operator's doubt"));
  EXPECT_EQ(check(*filter_, "other"), Verdict::unknown(Reason::incomplete));
  ASSERT_TRUE(build_filter(client_, "products", {"here"}));
  EXPECT_EQ(check(*filter_, "other"), Verdict::absent());
}

TEST_F(SharedBloomFilterTest, RemembersWhichAddsFailedAndRepairsThem) {
  auto server = required(RedisServer::start());
  const auto client = connect_to("redis://" + server.address());
  const auto filter = required(SharedBloomFilter::make(client, "f"));
  ASSERT_TRUE(build_filter(client, "f", {}));
  ASSERT_EQ(check(*filter, "key"), Verdict::absent());
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  const auto added = add(*filter, {"key"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::full) << added.error().message();
  EXPECT_EQ(check(*filter, "key"), Verdict::unknown(Reason::incomplete));
  EXPECT_EQ(check(*filter, "other"), Verdict::absent()) << "only the key that failed";
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  const auto other_process = required(SharedBloomFilter::make(client, "f"));
  for (int i = 0; i < 100 && check(*other_process, "key") != Verdict::maybe(); ++i) {
    std::this_thread::sleep_for(20ms);
    (void)check(*filter, "other");
  }
  EXPECT_EQ(check(*other_process, "key"), Verdict::maybe());
}

TEST_F(SharedBloomFilterTest, ASecondBuilderWaitsOrIsTold) {
  auto first = required(SharedFilterBuilder::begin(client_, "products", build_options({})));
  const auto refused = SharedFilterBuilder::begin(client_, "products", build_options({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::already_exists) << refused.error().message();
  auto second =
      SharedFilterBuilder::begin(client_, "products", build_options({.wait_for_builder = 10s}));
  ASSERT_TRUE(second) << "the first was silent for longer than its lease";
  const std::vector<std::string_view> keys = {"a"};
  const auto published = first.publish();
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, Errc::cancelled) << published.error().message();
  ASSERT_TRUE(second->insert(keys));
  const auto report = second->publish();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(check(*filter_, "a"), Verdict::maybe());
}

}  // namespace
}  // namespace guestlist
