#include "guestlist/servers/redis_sentinels.hpp"

#include <gtest/gtest.h>

#include "guestlist/servers/required.hpp"

namespace guestlist::servers {
namespace {

TEST(RedisSentinels, AFailoverLosesWhatNoReplicaHadReceived) {
  RedisSentinels sentinels = required(RedisSentinels::start());
  const std::size_t first = sentinels.master();
  ASSERT_LT(first, sentinels.size());
  EXPECT_EQ(sentinels.node(first).address(), sentinels.master_address());
  sentinels.node(first).command({"SET", "early", "1"});
  ASSERT_EQ(1, sentinels.node(first).command({"WAIT", "1", "5000"}).integer);

  sentinels.cut_replication();
  EXPECT_EQ("OK", sentinels.node(first).command({"SET", "late", "1"}).text);
  required(sentinels.failover());

  const std::size_t second = sentinels.master();
  ASSERT_LT(second, sentinels.size());
  EXPECT_NE(first, second);
  EXPECT_EQ("1", sentinels.node(second).command({"GET", "early"}).text);
  EXPECT_TRUE(sentinels.node(second).command({"GET", "late"}).is_nil());
  EXPECT_EQ("OK", sentinels.node(second).command({"SET", "after", "1"}).text);
}

TEST(RedisSentinels, AFailoverKeepsWhatTheReplicasHave) {
  RedisSentinels sentinels = required(RedisSentinels::start(
      {.replicas = 2, .node = {.flavour = RedisFlavour::valkey, .password = "secret"}}));
  const std::size_t first = sentinels.master();
  sentinels.node(first).command({"SET", "key", "1"});
  ASSERT_EQ(2, sentinels.node(first).command({"WAIT", "2", "5000"}).integer);
  required(sentinels.failover());
  EXPECT_EQ("1", sentinels.node(sentinels.master()).command({"GET", "key"}).text);
}

}  // namespace
}  // namespace guestlist::servers
