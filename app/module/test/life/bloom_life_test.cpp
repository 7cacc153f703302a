// Filters through what happens to servers: kills, restarts, replicas, failovers, full memory. A
// filter comes back with the same bits, whatever secret it was made with.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "guestlist/servers/redis_cluster.hpp"
#include "module_server.hpp"

namespace guestlist::server {
namespace {

using servers::RedisCluster;
using servers::RedisClusterOptions;
using servers::RedisData;

void wait_until(const std::function<bool()>& holds, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
    std::this_thread::yield();
  }
}

Words numbered(const std::string& command, const std::string& key, const std::string& prefix,
               int first, int count) {
  Words words = {command, key};
  for (int i = first; i < first + count; ++i) words.push_back(prefix + std::to_string(i));
  return words;
}

class BloomLife : public testing::TestWithParam<RedisFlavour> {
 protected:
  RedisServer start(bool appendonly, const std::string& arguments = "") {
    RedisOptions options = with_module(GetParam(), arguments);
    options.appendonly = appendonly;
    return servers::required(RedisServer::start(options));
  }

  /// Filters by every way that there is to make and to change one.
  static void fill(RedisServer& server) {
    Wire wire(server.unix_socket());
    for (const std::string layout : {"native", "classic"}) {
      wire.ask("CONFIG SET bf.bf-layout " + layout);
      const std::string key = "{f}" + layout;
      wire.ask("BF.ADD " + key + ":add one");
      wire.ask(numbered("BF.MADD", key + ":madd", "m", 0, 1500));
      wire.ask("BF.RESERVE " + key + ":reserve 0.001 100 EXPANSION 4");
      wire.ask(numbered("BF.MADD", key + ":reserve", "r", 0, 900));
      wire.ask("BF.INSERT " + key + ":insert CAPACITY 5 NONSCALING ITEMS a b c d e f g h");
      wire.ask("COPY " + key + ":madd " + key + ":copy");
      wire.ask(numbered("BF.MADD", key + ":copy", "c", 0, 100));
      wire.ask("BF.MERGE " + key + ":merged " + key + ":copy " + key + ":madd");
      wire.ask("BF.ADD " + key + ":cleared x");
      wire.ask("BF.CLEAR " + key + ":cleared");
      wire.ask("BF.ADD " + key + ":cleared y");
    }
  }
  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all = {"add",  "madd",   "reserve", "insert",
                                                 "copy", "merged", "cleared"};
    return all;
  }
  static std::vector<std::string> dumps(RedisServer& server) {
    Wire wire(server.unix_socket());
    std::vector<std::string> all;
    for (const std::string layout : {"native", "classic"}) {
      for (const std::string& name : names())
        all.push_back(wire.ask("DUMP {f}" + layout + ":" + name));
    }
    return all;
  }
  static void follow(RedisServer& replica, RedisServer& master) {
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    wait_until([&] { return replica.info("master_link_status") == "up"; }, "the replica's link");
  }
  /// WAIT counts for the connection that wrote, so the offsets are compared beside it.
  static void expect_caught_up(RedisServer& master, RedisServer& replica) {
    wait_until(
        [&] { return replica.info("slave_repl_offset") == master.info("master_repl_offset"); },
        "the replica's offset");
  }
};
GUESTLIST_ON_EVERY_SERVER(BloomLife);

TEST_P(BloomLife, TheLogAloneGivesTheSameBits) {
  RedisServer server = start(true);
  fill(server);
  const auto before = dumps(server);
  server.kill();
  ASSERT_TRUE(server.restart(RedisData::kept));
  EXPECT_EQ(dumps(server), before);
  EXPECT_NE(before.front(), "$-1\r\n");
}

TEST_P(BloomLife, ARewrittenLogGivesTheSameBits) {
  RedisServer server = start(true);
  server.command({"CONFIG", "SET", "aof-use-rdb-preamble", "no"});
  fill(server);
  const auto before = dumps(server);
  wait_until([&] { return server.info("aof_rewrite_in_progress") == "0"; }, "an earlier rewrite");
  ASSERT_FALSE(server.command({"BGREWRITEAOF"}).is_error());
  wait_until(
      [&] {
        return server.info("aof_rewrite_in_progress") == "0" &&
               server.info("aof_rewrite_scheduled") == "0";
      },
      "the rewrite");
  ASSERT_EQ(server.info("aof_last_bgrewrite_status"), "ok");
  server.kill();
  ASSERT_TRUE(server.restart(RedisData::kept));
  EXPECT_EQ(dumps(server), before);
}

TEST_P(BloomLife, ASnapshotGivesTheSameBits) {
  RedisServer server = start(false);
  fill(server);
  const auto before = dumps(server);
  ASSERT_FALSE(server.command({"SAVE"}).is_error());
  server.kill();
  ASSERT_TRUE(server.restart(RedisData::kept));
  EXPECT_EQ(dumps(server), before);
}

TEST_P(BloomLife, AReplicaWithOtherSettingsHasTheSameBitsAndTakesOver) {
  RedisServer master = start(false);
  RedisServer replica = start(false, "bf-initial-size 7 bf-layout classic bf-memory-limit 1");
  fill(master);  // arrives as a snapshot
  follow(replica, master);
  Wire wire(master.unix_socket());
  wire.ask("FLUSHALL");
  fill(master);  // arrives as commands
  expect_caught_up(master, replica);
  const auto before = dumps(master);
  EXPECT_EQ(dumps(replica), before);
  master.kill();
  replica.command({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(dumps(replica), before);
  Wire successor(replica.unix_socket());
  for (const std::string key : {"{f}native:madd", "{f}classic:madd"}) {
    EXPECT_EQ(successor.ask(numbered("BF.MEXISTS", key, "m", 0, 1500)).find(":0"),
              std::string::npos);
  }
}

TEST_P(BloomLife, WhatChangesNothingIsNotReplicated) {
  RedisServer master = start(false);
  RedisServer replica = start(false);
  follow(replica, master);
  Wire wire(master.unix_socket());
  wire.ask("BF.MADD k a b c");
  expect_caught_up(master, replica);
  const auto count = [&] { return replica.info("cmdstat_BF.MADD"); };
  const std::string before = count();
  const std::string added = replica.info("cmdstat_BF.ADD");
  wire.ask("BF.MADD k a b c");
  wire.ask("BF.ADD k a");
  wire.ask("SET marker x");
  expect_caught_up(master, replica);
  EXPECT_EQ(count(), before);
  EXPECT_EQ(replica.info("cmdstat_BF.ADD"), added);
}

TEST_P(BloomLife, AMillionKeysAnswerAlikeEverywhere) {
  RedisServer master = start(true);
  RedisServer replica = start(false);
  follow(replica, master);
  constexpr int keys = 1'000'000;
  constexpr int batch = 10'000;
  {
    Wire wire(master.unix_socket());
    wire.ask("BF.RESERVE k 0.01 300000");
    for (int first = 0; first < keys; first += batch)
      wire.ask(numbered("BF.MADD", "k", "in:", first, batch));
    EXPECT_EQ(wire.ask("WAIT 1 30000"), ":1\r\n");
  }
  expect_caught_up(master, replica);
  const auto answers = [&](RedisServer& server) {
    Wire wire(server.unix_socket());
    std::string all;
    for (int first = 0; first < keys; first += batch) {
      const std::string present = wire.ask(numbered("BF.MEXISTS", "k", "in:", first, batch));
      EXPECT_EQ(present.find(":0"), std::string::npos) << "a key that exists is called absent";
      all += wire.ask(numbered("BF.MEXISTS", "k", "out:", first, batch));
    }
    return all;
  };
  const std::string before = answers(master);
  EXPECT_EQ(answers(replica), before);
  master.kill();
  ASSERT_TRUE(master.restart(RedisData::kept));
  EXPECT_EQ(answers(master), before) << "from the log";
  ASSERT_FALSE(replica.command({"SAVE"}).is_error());
  replica.kill();
  ASSERT_TRUE(replica.restart(RedisData::kept));
  EXPECT_EQ(answers(replica), before) << "from the snapshot";
  // Of 1e6 absent keys at most 1 % and five standard deviations are found.
  const auto found = std::count(before.begin(), before.end(), '1') - 100;  // the 1 of each `*10000`
  EXPECT_LE(found, 10'000 + 5 * 100);
}

TEST_P(BloomLife, FullMemoryRefusesAddsAndLosesNothing) {
  RedisServer server = start(false);
  Wire wire(server.unix_socket());
  wire.ask("CONFIG SET maxmemory 8mb");
  wire.ask("BF.RESERVE k 0.01 100000");
  int added = 0;
  std::string reply;
  while (added < 100'000'000) {
    reply = wire.ask(numbered("BF.MADD", "k", "in:", added, 10'000));
    if (reply.find('-') != std::string::npos) break;
    added += 10'000;
  }
  ASSERT_GT(added, 0);
  EXPECT_TRUE(reply.find("-ERR problem inserting into filter") != std::string::npos ||
              reply.find("-OOM") != std::string::npos)
      << reply.substr(0, 200);
  for (int first = 0; first < added; first += 10'000) {
    ASSERT_EQ(wire.ask(numbered("BF.MEXISTS", "k", "in:", first, 10'000)).find(":0"),
              std::string::npos);
  }
  EXPECT_EQ(wire.ask("BF.RESERVE huge 0.001 100000000").substr(0, 1), "-");
  EXPECT_EQ(wire.ask("PING"), "+PONG\r\n");
}

TEST_P(BloomLife, ASlotMovesWhileKeysAreAdded) {
  RedisClusterOptions options;
  options.replicas_per_master = 0;
  options.node = with_module(GetParam());
  RedisCluster cluster = servers::required(RedisCluster::start(options));
  const std::string key = "{moving}filter";
  ASSERT_FALSE(cluster.command(key, {"BF.RESERVE", key, "0.001", "1000"}).is_error());
  int added = 0;
  const auto add_some = [&] {
    for (int i = 0; i < 200; ++i, ++added) {
      const std::string item = "item:" + std::to_string(added);
      // While the slot is between two masters, one of them takes the command.
      wait_until(
          [&] {
            for (std::size_t node = 0; node < cluster.size(); ++node) {
              cluster.node(node).command({"ASKING"});
              const auto reply = cluster.node(node).command({"BF.ADD", key, item});
              if (!reply.is_error()) return true;
            }
            return false;
          },
          "a master for the key");
    }
  };
  for (int move = 0; move < 3; ++move) {
    const std::size_t target = cluster.other_master(key);
    add_some();
    ASSERT_TRUE(cluster.begin_move(key, target));
    for (int i = 0; i < 50; ++i, ++added) {
      const auto reply = cluster.command(key, {"BF.ADD", key, "item:" + std::to_string(added)});
      ASSERT_FALSE(reply.is_error()) << reply.text;
    }
    ASSERT_TRUE(cluster.move_keys(key, target));
    ASSERT_TRUE(cluster.finish_move(key, target));
    add_some();
  }
  for (int i = 0; i < added; ++i) {
    const auto reply = cluster.command(key, {"BF.EXISTS", key, "item:" + std::to_string(i)});
    ASSERT_EQ(reply.integer, 1) << i << ' ' << reply.text;
  }
}

}  // namespace
}  // namespace guestlist::server
