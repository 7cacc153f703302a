#pragma once

// What the suites about following share: one server with a logical log for all cases of a suite,
// and for each case a table and a slot of its own.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "change_feed_laws.hpp"
#include "guestlist/postgres/postgres_connection.hpp"
#include "guestlist/postgres/postgres_followed_source.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist::test {

using namespace std::chrono_literals;
using laws::eventually;
using laws::Following;
using laws::KeySet;
using servers::required;
using testing::HasSubstr;

/// `Suite` is the suite itself, so that each has a server of its own.
template <class Suite>
class FollowSuite : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<servers::PostgresServer>(required(servers::PostgresServer::start(
        {.logical_replication = true,
         .settings = {"max_prepared_transactions = 10", "client_min_messages = warning",
                      "wal_sender_timeout = '2s'"}})));
  }
  static void TearDownTestSuite() { server_.reset(); }

  FollowSuite() {
    static int number = 0;
    follow_.slot = fmt::format("slot_{}", ++number);
    follow_.heartbeat = 50ms;
    follow_.slot_timeout = 20s;
    table_ = {.table = fmt::format("t{}", number), .key_columns = {"key"}};
  }
  ~FollowSuite() override {
    source_.reset();
    if (server_ == nullptr || !server_->is_running()) return;
    eventually([&] {
      return !server_
                  ->query(fmt::format("SELECT pg_terminate_backend(active_pid) FROM "
                                      "pg_replication_slots WHERE active; "
                                      "SELECT pg_drop_replication_slot(slot_name) FROM "
                                      "pg_replication_slots"))
                  .is_error();
    });
    execute(fmt::format("DROP PUBLICATION IF EXISTS {}; DROP TABLE IF EXISTS {} CASCADE",
                        follow_.slot, table_.table));
  }

  static Deadline soon(Duration span = 20s) { return Deadline::after(span, SteadyClock()); }
  static std::string execute(const std::string& sql) {
    const servers::PostgresReply reply = server_->query(sql);
    EXPECT_FALSE(reply.is_error()) << sql << ": " << reply.error;
    return reply.text();
  }
  PostgresConnection connect() const {
    return required(PostgresConnection::open(
        {.address = server_->connection_string(), .application_name = "writer"}, soon()));
  }
  static void run(PostgresConnection& connection, const std::string& sql) {
    const auto done = connection.execute(sql, soon());
    EXPECT_TRUE(done) << sql << ": " << done.error().message();
  }

  /// `$t` stands for the table.
  std::string with_table(std::string sql) const {
    for (auto at = sql.find("$t"); at != std::string::npos; at = sql.find("$t"))
      sql.replace(at, 2, table_.table);
    return sql;
  }
  std::string sql(const std::string& text) const { return execute(with_table(text)); }
  void make_table(const std::string& columns = "key int PRIMARY KEY, value text") const {
    execute(fmt::format("CREATE TABLE {} ({})", table_.table, columns));
  }
  Result<std::unique_ptr<PostgresFollowedSource>> open() const {
    return PostgresFollowedSource::open(
        options_.address.empty() ? PostgresOptions{.address = server_->connection_string()}
                                 : options_,
        table_, follow_);
  }
  PostgresFollowedSource& source() {
    if (source_ == nullptr) source_ = required(open());
    return *source_;
  }
  std::string slot(const std::string& column) const {
    return execute(fmt::format("SELECT {} FROM pg_replication_slots WHERE slot_name = '{}'", column,
                               follow_.slot));
  }
  static KeySet read(Result<std::unique_ptr<Snapshot>> snapshot) {
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    KeySet keys;
    if (snapshot) {
      EXPECT_TRUE(laws::read_on(**snapshot, keys));
    }
    return keys;
  }
  /// Reads on until the feed is over, and says how it ended.
  static Error end_of(Following& following) {
    Result<void> given;
    EXPECT_TRUE(eventually([&] {
      given = following.next();
      return !given;
    })) << "the feed goes on";
    return given ? Error{} : given.error();
  }

  static inline std::unique_ptr<servers::PostgresServer> server_;
  PostgresOptions options_;
  PostgresTable table_;
  PostgresFollowOptions follow_;
  std::unique_ptr<PostgresFollowedSource> source_;
};

}  // namespace guestlist::test
