// What happens to a Redis that holds a filter, while keys that are present are asked for.

#include <gtest/gtest.h>

#include "guestlist/servers/redis_server.hpp"
#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisData;
using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class SharedFilterFaultTest : public testing::Test {
 protected:
  /// A server with the filter, and those who ask for its keys.
  void start(servers::RedisOptions options = {}) {
    server_.emplace(required(RedisServer::start(std::move(options))));
    url_ = "redis://" + server_->address();
    client_ = connect_to(url_);
    build();
    watch_.emplace(url_, "products", keys_);
    ASSERT_TRUE(watch_->recovers());
  }
  void TearDown() override {
    if (watch_) {
      watch_->stop();
      EXPECT_EQ(watch_->absent(), 0U);
    }
  }

  void build() {
    for (int attempt = 0;; ++attempt) {
      const auto report = build_filter(
          client_, "products", keys_,
          {.items = 2000, .shards = 2, .lines_per_segment = 8, .longest_write = 0ms, .lease = 1s});
      if (report || attempt == 20) {
        ASSERT_TRUE(report) << report.error().message();
        return;
      }
      std::this_thread::sleep_for(100ms);
    }
  }
  void expect_recovery() {
    build();
    EXPECT_TRUE(watch_->recovers());
  }

  std::optional<RedisServer> server_;
  std::string url_;
  std::shared_ptr<RedisClient> client_;
  std::optional<PresentKeyWatch> watch_;
  const std::vector<std::string> keys_ = numbered_keys("here", 500);
};

TEST_F(SharedFilterFaultTest, FlushallDeniesNoKey) {
  start();
  const auto end = SteadyClock().now() + chaos_span(4s);
  while (SteadyClock().now() < end) {
    server_->command({"FLUSHALL"});
    watch_->look_again();
    build();
    watch_->look_again();
  }
  EXPECT_TRUE(watch_->recovers());
}

TEST_F(SharedFilterFaultTest, EvictionDeniesNoKey) {
  start(
      {.maxmemory = "8mb", .maxmemory_policy = "allkeys-lru", .settings = {"maxmemory-samples 1"}});
  const std::string filling(20'000, 'x');
  const auto end = SteadyClock().now() + chaos_span(4s);
  for (int i = 0; SteadyClock().now() < end; ++i) {
    server_->command({"SET", fmt::format("filling{}", i % 2000), filling});
    if (i % 400 == 399) {
      (void)build_filter(
          client_, "products", keys_,
          {.items = 2000, .shards = 2, .lines_per_segment = 8, .longest_write = 0ms});
    }
  }
  EXPECT_NE(server_->info("evicted_keys"), "0");
  server_->command({"CONFIG", "SET", "maxmemory", "0"});
  server_->command({"FLUSHALL"});
  expect_recovery();
}

TEST_F(SharedFilterFaultTest, EachKeyOfTheFilterMayVanishOrGetAnotherName) {
  start();
  const auto all = server_->command({"KEYS", "guestlist:*"});
  ASSERT_GE(all.elements.size(), 8U);
  for (const bool rename : {false, true}) {
    for (std::size_t i = 0; i < all.elements.size(); i += rename ? 3 : 2) {
      const auto now = server_->command({"KEYS", "guestlist:*"});
      const auto& key = now.elements[i % now.elements.size()].text;
      server_->command(rename ? std::vector<std::string>{"RENAME", key, "elsewhere"}
                              : std::vector<std::string>{"DEL", key});
      watch_->look_again();
      build();
      watch_->look_again();
    }
  }
  server_->command({"FLUSHALL"});
  expect_recovery();
}

TEST_F(SharedFilterFaultTest, AKeyOfAnotherTypeInItsPlaceDeniesNoKey) {
  start();
  for (const std::string key : {"guestlist:{products/0}:state", "guestlist:{products/1}:log"}) {
    server_->command({"DEL", key});
    server_->command({"SET", key, "mine"});
    watch_->look_again();
    server_->command({"DEL", key});
    server_->command({"FLUSHALL"});
    expect_recovery();
  }
}

TEST_F(SharedFilterFaultTest, ARestartFromAnOldSnapshotDeniesNoKey) {
  start();
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(server_->command({"SAVE"}).text, "OK");
    const auto later = numbered_keys(fmt::format("round {} ", round), 100);
    ASSERT_TRUE(add(*writer, later));
    server_->kill();
    watch_->look_again();
    required(server_->restart(round == 2 ? RedisData::empty : RedisData::kept));
    const auto give_up = SteadyClock().now() + 3s;
    while (SteadyClock().now() < give_up) {
      ASSERT_EQ(count(check(*writer, later, soon(200ms)), Verdict::absent()), 0U);
    }
    expect_recovery();
  }
}

TEST_F(SharedFilterFaultTest, AServerThatStandsStillForSecondsDeniesNoKey) {
  start();
  for (const auto span : {200ms, 3000ms}) {
    server_->stop();
    std::this_thread::sleep_for(span);
    server_->resume();
    EXPECT_TRUE(watch_->recovers()) << "nothing was lost";
  }
}

TEST_F(SharedFilterFaultTest, ForgottenScriptsAndKilledConnectionsDisturbNobody) {
  start();
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  for (int i = 0; i < 50; ++i) {
    server_->command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(add(*writer, {fmt::format("new{}", i)}));
    if (i % 10 == 0) {
      server_->command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
      std::this_thread::sleep_for(60ms);
      for (int again = 0; again < 100 && !add(*writer, {"after the kill"}); ++again) {
        std::this_thread::sleep_for(20ms);
      }
    }
  }
  EXPECT_TRUE(watch_->recovers());
  EXPECT_EQ(count(check(*writer, numbered_keys("new", 50)), Verdict::absent()), 0U);
}

TEST_F(SharedFilterFaultTest, AServerWithoutMemoryOrWithoutRightsDeniesNoKey) {
  start();
  server_->command({"CONFIG", "SET", "maxmemory", "1"});
  watch_->look_again();
  EXPECT_FALSE(build_filter(client_, "products", keys_, {.items = 2000, .longest_write = 0ms}));
  server_->command({"CONFIG", "SET", "maxmemory", "0"});
  for (const std::string command : {"getrange", "hget", "info", "hgetall", "strlen"}) {
    server_->command({"ACL", "SETUSER", "default", "-" + command});
    watch_->look_again();
    server_->command({"ACL", "SETUSER", "default", "+" + command});
    watch_->look_again();
  }
  std::this_thread::sleep_for(1100ms);  // the lease of the build that failed
  expect_recovery();
}

// Its connections stay open, the epoch is the old one, and the last adds are gone.
TEST_F(SharedFilterFaultTest, AMasterThatWasAReplicaForAWhileDeniesNoKey) {
  start();
  auto other = required(RedisServer::start());
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  ASSERT_EQ(check(*writer, "later"), Verdict::absent());
  const auto port = fmt::format("{}", other.port());
  const auto own_port = fmt::format("{}", server_->port());
  other.command({"REPLICAOF", "127.0.0.1", own_port});
  for (int i = 0; i < 500 && other.info("master_link_status") != "up"; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  // A master takes another replication id when its first replica comes.
  expect_recovery();
  std::this_thread::sleep_for(200ms);
  other.command({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(add(*writer, {"later"}));
  ASSERT_EQ(check(*writer, "later"), Verdict::maybe());
  server_->command({"REPLICAOF", "127.0.0.1", port});
  for (int i = 0; i < 500 && server_->info("master_link_status") != "up"; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  server_->command({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(check(*writer, "later"), Verdict::unknown(Reason::incomplete));
  watch_->look_again();
  expect_recovery();
}

TEST_F(SharedFilterFaultTest, AServerThatIsLoadingDeniesNoKey) {
  // Held up at each key, loading takes long enough to be seen.
  start({.settings = {"key-load-delay 5", "loading-process-events-interval-bytes 1024",
                      "enable-debug-command yes"}});
  server_->command({"DEBUG", "POPULATE", "40000", "filling", "100"});
  ASSERT_EQ(server_->command({"SAVE"}).text, "OK");
  server_->kill();
  const auto restarted = server_->restart();
  watch_->look_again();
  ASSERT_TRUE(restarted) << restarted.error().message();
  expect_recovery();
}

}  // namespace
}  // namespace guestlist
