// The filters of others against a real server. Their bytes are compared with what the real
// libraries wrote in interop/; here it is what they say when something is wrong.

#include <gtest/gtest.h>

#include "guestlist/redis/guava_redis_bloom_filter.hpp"
#include "guestlist/redis/module_filter.hpp"
#include "guestlist/redis/redisson_bloom_filter.hpp"
#include "guestlist/servers/redis_server.hpp"
#include "shared_filter_fixture.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class ForeignFilterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(required(RedisServer::start())); }
  static void TearDownTestSuite() { delete server_; }

  void SetUp() override {
    server_->command({"FLUSHALL"});
    client_ = connect_to("redis://" + server_->address());
    redisson_ = required(RedissonBloomFilter::make(client_, "f", RedissonEncoding{}));
    guava_ =
        required(GuavaRedisBloomFilter::make(client_, "g", 1000, 0.01, GuavaBitmapFunnel::once));
  }

  std::vector<RemoteFilter*> both() { return {redisson_.get(), guava_.get()}; }

  static RedisServer* server_;
  std::shared_ptr<RedisClient> client_;
  std::shared_ptr<RedissonBloomFilter> redisson_;
  std::shared_ptr<GuavaRedisBloomFilter> guava_;
};

RedisServer* ForeignFilterTest::server_ = nullptr;

TEST_F(ForeignFilterTest, FindsWhatWasAddedAndDeniesMostOthers) {
  for (auto* filter : both()) {
    EXPECT_TRUE(required(filter->create(1000, 0.01, soon())));
    EXPECT_EQ(check(*filter, "key"), Verdict::absent()) << "an empty filter is not a lost one";
    const auto keys = numbered_keys("here", 1000);
    ASSERT_TRUE(add(*filter, keys));
    EXPECT_EQ(count(check(*filter, keys), Verdict::maybe()), keys.size());
    const auto others = check(*filter, numbered_keys("other", 10'000));
    // n = 10,000, p = 0.01, z = 5
    EXPECT_LT(count(others, Verdict::maybe()), 100 + 5 * 10);
    EXPECT_FALSE(required(filter->create(1000, 0.01, soon()))) << "it is there";
    const auto facts = required(filter->inspect(soon()));
    EXPECT_NEAR(static_cast<double>(facts.estimated_items.value_or(0)), 1000, 50);
    EXPECT_GT(required(filter->drop(soon())), 0U);
    EXPECT_EQ(check(*filter, "here1").answer, Answer::unknown);
  }
  EXPECT_EQ(server_->command({"DBSIZE"}).integer, 0);
}

TEST_F(ForeignFilterTest, NothingIsCreatedByAskingOrAdding) {
  for (auto* filter : both()) {
    EXPECT_EQ(check(*filter, "key"), Verdict::unknown(Reason::missing));
    EXPECT_EQ(add(*filter, {"key"}).error().code, Errc::not_found);
  }
  EXPECT_EQ(server_->command({"DBSIZE"}).integer, 0);
}

TEST_F(ForeignFilterTest, AMissingBitmapIsNotAnEmptyOne) {
  for (auto* filter : both()) {
    required(filter->create(1000, 0.01, soon()));
    ASSERT_TRUE(add(*filter, {"here"}));
  }
  server_->command({"DEL", "f", "g"});
  for (auto* filter : both()) {
    EXPECT_EQ(check(*filter, "here"), Verdict::unknown(Reason::missing));
  }
}

TEST_F(ForeignFilterTest, AnAddDoesNotMakeABitmapThatMayHaveBeenEvicted) {
  required(redisson_->create(1000, 0.01, soon()));
  ASSERT_TRUE(add(*redisson_, {"here"}));
  server_->command({"DEL", "f"});
  server_->command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto added = add(*redisson_, {"later"});
  server_->command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::corrupt) << added.error().message();
  EXPECT_TRUE(add(*redisson_, {"later"})) << "the first add after Java's tryInit";
}

TEST_F(ForeignFilterTest, ASecondCreatorLearnsThatTheParametersAreOthers) {
  required(redisson_->create(1000, 0.01, soon()));
  const auto other = redisson_->create(2000, 0.01, soon());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::already_exists) << other.error().message();
  ASSERT_TRUE(add(*redisson_, {"here"})) << "and goes on with those that are there";
  EXPECT_EQ(check(*redisson_, "here"), Verdict::maybe());
}

TEST_F(ForeignFilterTest, LeftOverBitsAreNotTakenForANewFilters) {
  server_->command({"SETBIT", "f", "77", "1"});
  const auto made = redisson_->create(1000, 0.01, soon());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::already_exists) << made.error().message();
}

TEST_F(ForeignFilterTest, ARecreatedFilterIsReadByItsNewParameters) {
  required(redisson_->create(1000, 0.01, soon()));
  ASSERT_TRUE(add(*redisson_, {"here"}));
  ASSERT_EQ(check(*redisson_, "here"), Verdict::maybe());
  const auto another = required(RedissonBloomFilter::make(client_, "f", RedissonEncoding{}));
  for (int i = 0; i < 20; ++i) {
    required(another->drop(soon()));
    required(another->create(static_cast<std::uint64_t>(2000 + i), 0.001, soon()));
    ASSERT_TRUE(add(*another, {"here"}));
    EXPECT_EQ(check(*redisson_, "here"), Verdict::maybe());
  }
}

TEST_F(ForeignFilterTest, DamagedParametersAreNoVerdict) {
  required(redisson_->create(1000, 0.01, soon()));
  ASSERT_TRUE(add(*redisson_, {"here"}));
  for (const auto* size : {"0", "-5", "007", "abc", ""}) {
    server_->command({"HSET", "{f}:config", "size", size});
    EXPECT_EQ(check(*redisson_, "here").answer, Answer::unknown) << size;
    EXPECT_FALSE(add(*redisson_, {"later"})) << size;
  }
  server_->command({"DEL", "{f}:config"});
  EXPECT_EQ(check(*redisson_, "here"), Verdict::unknown(Reason::missing));
  server_->command({"SET", "{f}:config", "text"});
  EXPECT_EQ(check(*redisson_, "here"), Verdict::unknown(Reason::mismatched));
  EXPECT_EQ(add(*redisson_, {"later"}).error().code, Errc::mismatched);
}

TEST_F(ForeignFilterTest, WhoeverLivedThroughARestartSaysSo) {
  auto server = required(RedisServer::start({.appendonly = true}));
  const auto filter = required(RedissonBloomFilter::make(connect_to("redis://" + server.address()),
                                                         "f", RedissonEncoding{}));
  required(filter->create(1000, 0.01, soon()));
  ASSERT_EQ(check(*filter, "other"), Verdict::absent());
  required(server.restart());
  Verdict verdict;
  for (int i = 0; i < 100 && verdict.reason != Reason::incomplete; ++i) {
    verdict = check(*filter, "other");
    ASSERT_FALSE(verdict.is_absent());
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(verdict, Verdict::unknown(Reason::incomplete));
}

TEST_F(ForeignFilterTest, ExpiresAndIsRenamedAsOne) {
  EXPECT_EQ(redisson_->expire(1h, soon()).error().code, Errc::not_found);
  required(redisson_->create(1000, 0.01, soon()));
  ASSERT_TRUE(add(*redisson_, {"here"}));
  required(redisson_->expire(1h, soon()));
  EXPECT_GT(server_->command({"PTTL", "f"}).integer, 0);
  EXPECT_GT(server_->command({"PTTL", "{f}:config"}).integer, 0);
  required(redisson_->rename("h", soon()));
  const auto renamed = required(RedissonBloomFilter::make(client_, "h", RedissonEncoding{}));
  EXPECT_EQ(check(*renamed, "here"), Verdict::maybe());
  EXPECT_EQ(check(*redisson_, "here"), Verdict::unknown(Reason::missing));
  required(redisson_->create(10, 0.1, soon()));
  EXPECT_EQ(renamed->rename("f", soon()).error().code, Errc::already_exists);
}

TEST_F(ForeignFilterTest, AManyKeyAddHoldsTheServerForMillisecondsOnly) {
  required(redisson_->create(1'000'000, 0.01, soon()));
  ASSERT_TRUE(add(*redisson_, {"the bitmap has its length"}));
  server_->command({"CONFIG", "SET", "slowlog-log-slower-than", "20000"});
  server_->command({"SLOWLOG", "RESET"});
  ASSERT_TRUE(add(*redisson_, numbered_keys("k", 20'000), soon(60s)));
  EXPECT_EQ(server_->command({"SLOWLOG", "LEN"}).integer, 0) << "nothing took 20 ms";
}

TEST_F(ForeignFilterTest, ATextThatNoCodecHasAFormForIsUnparsable) {
  const auto longs = required(
      RedissonBloomFilter::make(client_, "f", required(RedissonEncoding::parse("long", ""))));
  required(longs->create(1000, 0.01, soon()));
  ASSERT_TRUE(add(*longs, {"42"}));
  EXPECT_EQ(
      check(*longs, std::vector<std::string>{"42", "x", "43"}),
      (std::vector{Verdict::maybe(), Verdict::unknown(Reason::unparsable), Verdict::absent()}));
  const auto added = add(*longs, {"44", "y"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::invalid_argument);
  EXPECT_EQ(check(*longs, "44"), Verdict::absent()) << "nothing of the call was added";
}

TEST_F(ForeignFilterTest, AServerWithoutTheModuleIsNamed) {
  ModuleBloomFilter bloom(client_, "m");
  ModuleCuckooFilter cuckoo(client_, "m");
  for (RemoteFilter* filter : std::vector<RemoteFilter*>{&bloom, &cuckoo}) {
    EXPECT_EQ(check(*filter, "key").answer, Answer::unknown);
    const auto made = filter->create(1000, 0.01, soon());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("module"), std::string::npos) << made.error().message();
    EXPECT_FALSE(add(*filter, {"key"}));
  }
}

}  // namespace
}  // namespace guestlist
