// A filter in a Cluster whose slots move and whose masters change and die.

#include "guestlist/servers/redis_cluster.hpp"

#include <gtest/gtest.h>

#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisCluster;
using servers::required;
using namespace std::chrono_literals;

class SharedFilterClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = new RedisCluster(required(RedisCluster::start())); }
  static void TearDownTestSuite() { delete cluster_; }

  SharedFilterClusterTest() {
    url_ = "redis+cluster://";
    for (const auto& address : cluster_->addresses()) {
      url_ += (url_.back() == '/' ? "" : ",") + address;
    }
    client_ = connect_to(url_);
  }

  void build() {
    for (int attempt = 0;; ++attempt) {
      const auto report = build_filter(client_, "products", keys_,
                                       {.items = 2000, .shards = 6, .longest_write = 50ms});
      if (report || attempt == 50) {
        ASSERT_TRUE(report) << report.error().message();
        return;
      }
      std::this_thread::sleep_for(200ms);
    }
  }

  static RedisCluster* cluster_;
  std::string url_;
  std::shared_ptr<RedisClient> client_;
  const std::vector<std::string> keys_ = numbered_keys("here", 300);
  const std::string slot_key_ = "guestlist:{products/3}:state";
};

RedisCluster* SharedFilterClusterTest::cluster_ = nullptr;

TEST_F(SharedFilterClusterTest, FindsKeysInAllShards) {
  build();
  const auto filter = required(SharedBloomFilter::make(client_, "products"));
  EXPECT_EQ(count(check(*filter, keys_), Verdict::maybe()), keys_.size());
  const auto later = numbered_keys("later", 300);
  ASSERT_TRUE(add(*filter, later));
  EXPECT_EQ(count(check(*filter, later), Verdict::maybe()), later.size());
}

TEST_F(SharedFilterClusterTest, ASlotThatMovesThereAndBackDeniesNoKey) {
  build();
  PresentKeyWatch watch(url_, "products", keys_);
  ASSERT_TRUE(watch.recovers());
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  std::vector<std::string> added;
  for (int move = 0; move < 4; ++move) {
    const auto target = cluster_->other_master(slot_key_);
    required(cluster_->begin_move(slot_key_, target));
    const auto add_some = [&](int step) {
      const auto some = numbered_keys(fmt::format("move {} step {} ", move, step), 50);
      if (add(*writer, some)) {
        added.insert(added.end(), some.begin(), some.end());
      }
      EXPECT_EQ(count(check(*writer, added), Verdict::absent()), 0U);
      watch.look_again();
    };
    add_some(1);
    required(cluster_->move_keys(slot_key_, target));
    add_some(2);
    required(cluster_->finish_move(slot_key_, target));
    add_some(3);
  }
  EXPECT_GT(added.size(), 200U);
  build();
  EXPECT_TRUE(watch.recovers());
  watch.stop();
  EXPECT_EQ(watch.absent(), 0U);
}

TEST_F(SharedFilterClusterTest, AnOrderlyFailoverDeniesNoKey) {
  build();
  PresentKeyWatch watch(url_, "products", keys_);
  ASSERT_TRUE(watch.recovers());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 500 && cluster_->replica_of(slot_key_) == cluster_->size(); ++i) {
      std::this_thread::sleep_for(20ms);  // the former master becomes one
    }
    required(cluster_->failover(slot_key_));
    watch.look_again();
  }
  build();
  EXPECT_TRUE(watch.recovers());
  watch.stop();
  EXPECT_EQ(watch.absent(), 0U);
}

// With a cluster of its own, for slots that moved a moment ago can cost a replica the votes, and
// because it leaves it with a node less.
class SharedFilterDeadMasterTest : public SharedFilterClusterTest {};

TEST_F(SharedFilterDeadMasterTest, WhatADeadMasterHadNotPassedOnIsDeniedByNobody) {
  build();
  PresentKeyWatch watch(url_, "products", keys_);
  ASSERT_TRUE(watch.recovers());
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  // The replica stands still and its connection is gone: it takes over without the last adds.
  for (int i = 0; i < 500 && cluster_->replica_of(slot_key_) == cluster_->size(); ++i) {
    std::this_thread::sleep_for(20ms);
  }
  const auto replica_index = cluster_->replica_of(slot_key_);
  ASSERT_LT(replica_index, cluster_->size()) << "the master has no replica";
  auto& replica = cluster_->node(replica_index);
  for (int i = 0; i < 500 && replica.info("master_link_status") != "up"; ++i) {
    std::this_thread::sleep_for(20ms);  // one that never had all of it would not be elected
  }
  replica.stop();
  cluster_->command(slot_key_, {"CLIENT", "KILL", "TYPE", "replica"});
  const auto lost = numbered_keys("lost", 300);
  ASSERT_TRUE(add(*writer, lost));
  ASSERT_EQ(count(check(*writer, lost), Verdict::absent()), 0U);
  cluster_->kill_master_of(slot_key_);
  replica.resume();
  const auto over = SteadyClock().now() + 8s;
  while (SteadyClock().now() < over) {
    ASSERT_EQ(count(check(*writer, lost, soon(200ms)), Verdict::absent()), 0U);
  }
  required(cluster_->wait_until_served(slot_key_));
  build();
  EXPECT_TRUE(watch.recovers());
  watch.stop();
  EXPECT_EQ(watch.absent(), 0U);
}

}  // namespace
}  // namespace guestlist
