#include "guestlist/servers/redis_cluster.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "guestlist/servers/required.hpp"
#include "guestlist/servers/tcp_gate.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

class RedisClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TimePoint before = SteadyClock().now();
    cluster_ = new RedisCluster(required(RedisCluster::start({.node_timeout = 1s})));
    start_took_ = SteadyClock().now() - before;
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }

  static RedisCluster* cluster_;
  static Duration start_took_;
};

RedisCluster* RedisClusterTest::cluster_ = nullptr;
Duration RedisClusterTest::start_took_{};

TEST_F(RedisClusterTest, StartsInSeconds) {
  RecordProperty("milliseconds", std::to_string(start_took_ / 1ms));
  EXPECT_LT(start_took_, 20s);
}

TEST_F(RedisClusterTest, SharesKeysOutToEveryMaster) {
  std::set<std::size_t> masters;
  for (int i = 0; i < 30; ++i) {
    const std::string key = "shared:" + std::to_string(i);
    EXPECT_EQ("OK", cluster_->command(key, {"SET", key, "1"}).text);
    masters.insert(cluster_->master_of(key));
  }
  EXPECT_EQ(3u, masters.size());
}

TEST_F(RedisClusterTest, AnotherMasterSendsClientsOn) {
  const std::size_t other = cluster_->other_master("key");
  const RedisReply reply = cluster_->node(other).command({"GET", "key"});
  EXPECT_EQ("MOVED " + std::to_string(cluster_->slot_of("key")) + " " +
                cluster_->node(cluster_->master_of("key")).address(),
            reply.text);
}

TEST_F(RedisClusterTest, ASlotThatMovesAsksThenMoves) {
  const std::string key = "moving";
  const std::string slot = std::to_string(cluster_->slot_of(key));
  cluster_->command(key, {"SET", key, "1"});
  const std::size_t source = cluster_->master_of(key);
  const std::size_t target = cluster_->other_master(key);

  required(cluster_->begin_move(key, target));
  EXPECT_EQ("1", cluster_->node(source).command({"GET", key}).text);
  EXPECT_EQ("ASK " + slot + " " + cluster_->node(target).address(),
            cluster_->node(source).command({"GET", "other{moving}"}).text);
  required(cluster_->move_keys(key, target));
  EXPECT_EQ("ASK " + slot + " " + cluster_->node(target).address(),
            cluster_->node(source).command({"GET", key}).text);
  required(cluster_->finish_move(key, target));
  EXPECT_EQ("MOVED " + slot + " " + cluster_->node(target).address(),
            cluster_->node(source).command({"GET", key}).text);
  EXPECT_EQ("1", cluster_->command(key, {"GET", key}).text);
  required(cluster_->wait_until_served(key));
}

TEST_F(RedisClusterTest, AGateMayStandBeforeANode) {
  RedisServer& master = cluster_->node(cluster_->master_of("key"));
  RedisServer& other = cluster_->node(cluster_->other_master("key"));
  const TcpGate gate = required(TcpGate::open(master.port()));
  const auto announce = [&](std::uint16_t port) {
    master.command({"CONFIG", "SET", "cluster-announce-port", std::to_string(port)});
    const std::string moved = "MOVED " + std::to_string(cluster_->slot_of("key")) +
                              " 127.0.0.1:" + std::to_string(port == 0 ? master.port() : port);
    const TimePoint end = SteadyClock().now() + 20s;
    while (other.command({"GET", "key"}).text != moved && SteadyClock().now() < end) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(moved, other.command({"GET", "key"}).text);
  };
  announce(gate.port());
  announce(0);
}

TEST_F(RedisClusterTest, AnOrderlyFailoverLosesNothing) {
  cluster_->command("kept", {"SET", "kept", "1"});
  const std::size_t before = cluster_->master_of("kept");
  required(cluster_->failover("kept"));
  EXPECT_NE(before, cluster_->master_of("kept"));
  EXPECT_EQ("1", cluster_->command("kept", {"GET", "kept"}).text);
}

TEST_F(RedisClusterTest, AReplicaTakesOverFromAMasterThatDied) {
  cluster_->command("outlives", {"SET", "outlives", "1"});
  cluster_->command("outlives", {"WAIT", "1", "1000"});
  const std::size_t dead = cluster_->kill_master_of("outlives");
  required(cluster_->wait_until_served("outlives"));
  EXPECT_NE(dead, cluster_->master_of("outlives"));
  EXPECT_EQ("1", cluster_->command("outlives", {"GET", "outlives"}).text);
  required(cluster_->node(dead).restart());
  required(cluster_->wait_until_served("outlives"));
}

TEST(ValkeyCluster, ServesToo) {
  RedisCluster cluster = required(RedisCluster::start(
      {.replicas_per_master = 0, .node = {.flavour = RedisFlavour::valkey, .password = "secret"}}));
  EXPECT_EQ(3u, cluster.size());
  EXPECT_EQ("OK", cluster.command("key", {"SET", "key", "1"}).text);
  const std::size_t target = cluster.other_master("key");
  required(cluster.move_slot("key", target));
  EXPECT_EQ(target, cluster.master_of("key"));
  EXPECT_EQ("1", cluster.command("key", {"GET", "key"}).text);
}

}  // namespace
}  // namespace guestlist::servers
