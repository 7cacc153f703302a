#include "guestlist/postgres/postgres_snapshot.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>

#include "guestlist/servers/tcp_gate.hpp"
#include "postgres_suite.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using servers::required;
using testing::HasSubstr;

class PostgresSnapshotTest : public test::PostgresSuite<PostgresSnapshotTest> {
 protected:
  static std::unique_ptr<PostgresSnapshot> open(const std::string& table,
                                                const PostgresSnapshotOptions& how = {}) {
    return required(
        PostgresSnapshot::open(server_options(), {.table = table, .key_columns = {"id"}}, how));
  }
  static std::set<std::string> read(Snapshot& snapshot) {
    std::set<std::string> all;
    std::vector<std::string> keys;
    do {
      required(snapshot.next(keys));
      all.insert(keys.begin(), keys.end());
    } while (!keys.empty());
    return all;
  }
};

TEST_F(PostgresSnapshotTest, GivesARowOnceWhateverIsWrittenMeanwhile) {
  execute(
      "CREATE TABLE moving (id int PRIMARY KEY); INSERT INTO moving SELECT generate_series(1, "
      "30000)");
  const auto snapshot = open("moving");
  std::vector<std::string> keys;
  std::vector<std::string> all;
  int batches = 0;
  do {
    required(snapshot->next(keys));
    all.insert(all.end(), keys.begin(), keys.end());
    execute(
        fmt::format("DELETE FROM moving WHERE id % 25 = {0}; INSERT INTO moving VALUES (200000 + "
                    "{0}); UPDATE moving SET id = id + 1000000 WHERE id % 24 = {0}",
                    ++batches));
  } while (!keys.empty());
  EXPECT_EQ(30'000u, all.size());
  EXPECT_EQ(30'000u, std::set<std::string>(all.begin(), all.end()).size());
  for (const std::string& key : all) ASSERT_LE(std::stoi(key), 30'000);
}

TEST_F(PostgresSnapshotTest, CountsAsItIsTold) {
  execute(
      "CREATE TABLE counted (id int); INSERT INTO counted SELECT generate_series(1, 50000); INSERT "
      "INTO counted VALUES (NULL); ANALYZE counted");
  EXPECT_EQ(50'000u, open("counted", {.count = PostgresCount::exact})->count());
  EXPECT_EQ(std::nullopt, open("counted", {.count = PostgresCount::none})->count());
  const auto estimated = open("counted", {.count = PostgresCount::estimated})->count();
  ASSERT_TRUE(estimated);
  EXPECT_NEAR(50'000.0, static_cast<double>(*estimated), 500.0);
}

// A table that ALTER TABLE rewrites looks empty to every snapshot that is older.
TEST_F(PostgresSnapshotTest, ARewriteOfTheTableWaitsForIt) {
  execute("CREATE TABLE rewritten (id int); INSERT INTO rewritten SELECT generate_series(1, 1000)");
  auto snapshot = open("rewritten");
  auto altered = std::async(std::launch::async, [] {
    return connect().execute("ALTER TABLE rewritten ALTER id TYPE bigint", soon()).has_value();
  });
  EXPECT_EQ(std::future_status::timeout, altered.wait_for(200ms));
  EXPECT_EQ(1000u, read(*snapshot).size());
  snapshot.reset();
  EXPECT_TRUE(altered.get());
}

TEST_F(PostgresSnapshotTest, SeesAllOfATableWhoseRewriteItWaitedFor) {
  execute("CREATE TABLE waited (id int); INSERT INTO waited SELECT generate_series(1, 1000)");
  execute("BEGIN; ALTER TABLE waited ALTER id TYPE bigint");
  auto opened = std::async(std::launch::async, [] { return open("waited"); });
  EXPECT_EQ(std::future_status::timeout, opened.wait_for(200ms));
  execute("COMMIT");
  const auto snapshot = opened.get();
  EXPECT_EQ(1000u, snapshot->count());
  EXPECT_EQ(1000u, read(*snapshot).size());
}

TEST_F(PostgresSnapshotTest, ItsPositionIsBeforeEveryChangeThatItDoesNotShow) {
  execute("CREATE TABLE positioned (id int)");
  const auto now = [] {
    return *PostgresLsn::parse(server_->query("SELECT pg_current_wal_lsn()").text());
  };
  const PostgresLsn before = now();
  const auto snapshot = open("positioned");
  execute("INSERT INTO positioned VALUES (1)");
  ASSERT_TRUE(snapshot->position());
  EXPECT_GE(*snapshot->position(), before);
  EXPECT_LT(*snapshot->position(), now());
}

TEST_F(PostgresSnapshotTest, HasNoPositionWhileAWriterIsOlder) {
  execute("CREATE TABLE written (id int)");
  PostgresConnection writer = connect();
  required(writer.execute("BEGIN; INSERT INTO written VALUES (1)", soon()));
  EXPECT_EQ(std::nullopt, open("written")->position());
  auto waiting =
      std::async(std::launch::async, [] { return open("written", {.wait_for_writers = 20s}); });
  EXPECT_EQ(std::future_status::timeout, waiting.wait_for(200ms));
  required(writer.execute("COMMIT", soon()));
  const auto snapshot = waiting.get();
  EXPECT_TRUE(snapshot->position());
  EXPECT_EQ(1u, read(*snapshot).size());
}

// Its commit is in the log, and nobody sees it: it waits for a standby that is not there.
TEST_F(PostgresSnapshotTest, HasNoPositionWhileACommitWaitsForAStandby) {
  execute("CREATE TABLE unseen (id int)");
  execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  execute("SELECT pg_reload_conf()");
  while (server_->query("SHOW synchronous_standby_names").text() != "nobody")
    std::this_thread::sleep_for(5ms);
  auto writer = std::async(std::launch::async, [] {
    return connect().execute("INSERT INTO unseen VALUES (1)", soon()).has_value();
  });
  while (
      server_->query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").text() !=
      "1")
    std::this_thread::sleep_for(5ms);
  const auto snapshot = open("unseen");
  EXPECT_EQ(0u, snapshot->count());
  EXPECT_EQ(std::nullopt, snapshot->position());
  execute("ALTER SYSTEM RESET synchronous_standby_names");
  execute("SELECT pg_reload_conf()");
  EXPECT_TRUE(writer.get());
  EXPECT_EQ(1u, open("unseen")->count());
}

TEST_F(PostgresSnapshotTest, HasNoPositionWhileAPreparedTransactionIsOpen) {
  execute("CREATE TABLE prepared (id int)");
  execute("BEGIN; INSERT INTO prepared VALUES (1); PREPARE TRANSACTION 'two'");
  EXPECT_EQ(std::nullopt, open("prepared")->position());
  execute("COMMIT PREPARED 'two'");
  EXPECT_TRUE(open("prepared")->position());
}

TEST_F(PostgresSnapshotTest, ReadsPartitionsAndViews) {
  execute(
      "CREATE TABLE parts (id int) PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF parts "
      "FOR "
      "VALUES FROM (0) TO (10); CREATE TABLE high PARTITION OF parts FOR VALUES FROM (10) TO (20); "
      "INSERT INTO parts VALUES (1), (11); CREATE VIEW seen AS SELECT id FROM parts WHERE id > 5");
  EXPECT_EQ((std::set<std::string>{"1", "11"}), read(*open("parts")));
  EXPECT_EQ((std::set<std::string>{"11"}), read(*open("seen")));
}

TEST_F(PostgresSnapshotTest, ASnapshotThatBrokeStaysBroken) {
  execute(
      "CREATE TABLE broken (id text); INSERT INTO broken SELECT repeat(i::text, 1000) FROM "
      "generate_series(10000, 20000) i");
  auto gate = required(servers::TcpGate::open(server_->port()));
  auto snapshot = required(PostgresSnapshot::open(server_options(gate.port()),
                                                  {.table = "broken", .key_columns = {"id"}}));
  std::vector<std::string> keys;
  required(snapshot->next(keys));
  gate.reset_connections();
  Result<void> read;
  while (read && !keys.empty()) read = snapshot->next(keys);
  ASSERT_FALSE(read);
  EXPECT_EQ(Errc::unavailable, read.error().code);
  EXPECT_TRUE(keys.empty());
  EXPECT_FALSE(snapshot->next(keys));
}

TEST_F(PostgresSnapshotTest, AServerThatStallsIsTakenForLost) {
  execute(
      "CREATE TABLE stalls (id text); INSERT INTO stalls SELECT repeat(i::text, 1000) FROM "
      "generate_series(10000, 20000) i");
  auto gate = required(servers::TcpGate::open(server_->port()));
  auto snapshot = required(PostgresSnapshot::open(server_options(gate.port()),
                                                  {.table = "stalls", .key_columns = {"id"}},
                                                  {.stall_timeout = 300ms}));
  std::vector<std::string> keys;
  required(snapshot->next(keys));
  gate.inject({.hold_requests = true, .hold_replies = true});
  Result<void> read;
  while (read && !keys.empty()) read = snapshot->next(keys);
  ASSERT_FALSE(read);
  EXPECT_EQ(Errc::deadline_exceeded, read.error().code);
}

TEST_F(PostgresSnapshotTest, AStatementOfTheServerEndsItWithTheReason) {
  execute(
      "CREATE TABLE ended (id text); INSERT INTO ended SELECT repeat(i::text, 1000) FROM "
      "generate_series(10000, 20000) i");
  const auto snapshot = open("ended");
  std::vector<std::string> keys;
  required(snapshot->next(keys));
  execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%'");
  Result<void> read;
  while (read && !keys.empty()) read = snapshot->next(keys);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("57014"));
}

}  // namespace
}  // namespace guestlist
