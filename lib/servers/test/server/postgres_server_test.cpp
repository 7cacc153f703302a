#include "guestlist/servers/postgres_server.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "guestlist/servers/required.hpp"

namespace guestlist::servers {
namespace {

class PostgresServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new PostgresServer(required(PostgresServer::start({.logical_replication = true})));
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  static PostgresServer* server_;
};

PostgresServer* PostgresServerTest::server_ = nullptr;

TEST_F(PostgresServerTest, AnswersWithRowsAndNulls) {
  const PostgresReply reply = server_->query("SELECT 1, NULL, 'ä' UNION ALL SELECT 2, 'x', ''");
  ASSERT_EQ(2u, reply.rows.size()) << reply.error;
  EXPECT_EQ("1", reply.rows[0][0]);
  EXPECT_EQ(std::nullopt, reply.rows[0][1]);
  EXPECT_EQ("ä", reply.rows[0][2]);
  EXPECT_EQ("", reply.rows[1][2]);
  EXPECT_EQ("1", reply.text());
}

TEST_F(PostgresServerTest, SaysWhatWasWrongAndGoesOn) {
  const PostgresReply wrong = server_->query("SELECT * FROM nowhere");
  EXPECT_TRUE(wrong.is_error());
  EXPECT_NE(std::string::npos, wrong.text().find("nowhere")) << wrong.text();
  EXPECT_EQ("2", server_->query("SELECT 1 + 1").text());
}

TEST_F(PostgresServerTest, DecodesItsLog) {
  EXPECT_EQ("logical", server_->query("SHOW wal_level").text());
  server_->query("CREATE TABLE decoded (id bigint PRIMARY KEY)");
  const PostgresReply slot =
      server_->query("SELECT pg_create_logical_replication_slot('probe', 'test_decoding')");
  ASSERT_FALSE(slot.is_error()) << slot.error;
  server_->query("INSERT INTO decoded VALUES (42)");
  EXPECT_NE("0",
            server_
                ->query("SELECT count(*) FROM pg_logical_slot_get_changes('probe', NULL, NULL) "
                        "WHERE data LIKE '%42%'")
                .text());
  server_->query("SELECT pg_drop_replication_slot('probe')");
}

TEST_F(PostgresServerTest, CommittedRowsSurviveACrash) {
  server_->query("CREATE TABLE survives (id bigint)");
  server_->query("INSERT INTO survives VALUES (1)");
  server_->query("BEGIN; INSERT INTO survives VALUES (2)");
  server_->kill();
  EXPECT_FALSE(server_->is_running());
  EXPECT_TRUE(server_->query("SELECT 1").is_error());
  required(server_->restart());
  EXPECT_EQ("1", server_->query("SELECT string_agg(id::text, ',') FROM survives").text());
}

TEST_F(PostgresServerTest, KeepsItsPortWhenRestarted) {
  server_->query("CREATE TABLE kept AS SELECT 7 AS id");
  const std::uint16_t port = server_->port();
  required(server_->restart());
  EXPECT_EQ(port, server_->port());
  EXPECT_EQ("7", server_->query("SELECT id FROM kept").text());
}

TEST(PostgresOptions, APasswordIsAskedForAtThePort) {
  PostgresServer server =
      required(PostgresServer::start({.password = "secret", .settings = {"max_connections = 17"}}));
  EXPECT_EQ("17", server.query("SHOW max_connections").text());
  const auto logs_in = [&](const std::string& connection) {
    PGconn* opened = PQconnectdb(connection.c_str());
    const bool good = PQstatus(opened) == CONNECTION_OK;
    PQfinish(opened);
    return good;
  };
  EXPECT_TRUE(logs_in(server.connection_string()));
  EXPECT_FALSE(logs_in(server.connection_string() + " password=wrong"));
}

TEST(PostgresOptions, ASettingThatIsRefusedIsSaidWithTheServersOwnWords) {
  const auto server = PostgresServer::start({.settings = {"no_such_setting = 1"}});
  ASSERT_FALSE(server);
  EXPECT_NE(std::string::npos, server.error().detail.find("no_such_setting"))
      << server.error().detail;
}

}  // namespace
}  // namespace guestlist::servers
