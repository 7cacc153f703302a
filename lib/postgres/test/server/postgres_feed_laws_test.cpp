// A table of PostgreSQL that is followed keeps the laws of a Source and of a ChangeFeed, also
// through a network that loses connections.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "guestlist/postgres/postgres_followed_source.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"
#include "guestlist/servers/tcp_gate.hpp"
#include "remote_change_feed_laws.hpp"
#include "remote_source_laws.hpp"

namespace guestlist::laws {
namespace {

/// One for all laws; each has a table and a slot of its own.
class FollowedServer : public testing::Environment {
 public:
  void SetUp() override {
    running = std::make_unique<servers::PostgresServer>(
        servers::required(servers::PostgresServer::start({.logical_replication = true})));
  }
  void TearDown() override { running.reset(); }

  static inline std::unique_ptr<servers::PostgresServer> running;
};
const testing::Environment* const server = testing::AddGlobalTestEnvironment(new FollowedServer);

class FollowedTableForm {
 public:
  FollowedTableForm() {
    static int number = 0;
    table_ = fmt::format("Followed {}", ++number);
    slot_ = fmt::format("law_{}", number);
    query(fmt::format("CREATE TABLE \"{}\" (key text PRIMARY KEY, value text)", table_));
    source_ = servers::required(PostgresFollowedSource::open(
        {.address = FollowedServer::running->connection_string(gate_.port())},
        {.table = table_, .key_columns = {"key"}, .value_expression = "value"},
        {.slot = slot_, .heartbeat = std::chrono::milliseconds(50)}));
  }
  ~FollowedTableForm() {
    gate_.reset_connections();
    EXPECT_TRUE(eventually([&] { return source_->forget().has_value(); }));
  }
  FollowedTableForm(const FollowedTableForm&) = delete;
  FollowedTableForm& operator=(const FollowedTableForm&) = delete;

  FollowedSource& source() { return *source_; }
  void commit(const Rows& rows) {
    std::string values;
    for (const auto& [key, value] : rows)
      values += fmt::format("{}({}, {})", values.empty() ? "" : ", ", literal(key), literal(value));
    query(fmt::format("INSERT INTO \"{}\" VALUES {}", table_, values));
  }
  void remove(const std::string& key) {
    query(fmt::format("DELETE FROM \"{}\" WHERE key = {}", table_, literal(key)));
  }
  void change_key(const std::string& from, const std::string& to) {
    query(fmt::format("UPDATE \"{}\" SET key = {} WHERE key = {}", table_, literal(to),
                      literal(from)));
  }
  void lose_changes() { query(fmt::format("SELECT pg_drop_replication_slot('{}')", slot_)); }
  void hold_replies() { gate_.inject({.hold_replies = true}); }
  void cut() { gate_.reset_connections(); }
  void heal() { gate_.heal(); }

 private:
  static std::string literal(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
    return quoted + "'";
  }
  static void query(const std::string& sql) {
    const std::lock_guard lock(mutex_);
    const servers::PostgresReply reply = FollowedServer::running->query(sql);
    EXPECT_FALSE(reply.is_error()) << reply.error;
  }

  static inline std::mutex mutex_;
  servers::TcpGate gate_ =
      servers::required(servers::TcpGate::open(FollowedServer::running->port()));
  std::string table_;
  std::string slot_;
  std::unique_ptr<PostgresFollowedSource> source_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Followed, SourceLaws, FollowedTableForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Followed, RemoteSourceLaws, FollowedTableForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Followed, ChangeFeedLaws, FollowedTableForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Followed, RemoteChangeFeedLaws, FollowedTableForm);

}  // namespace
}  // namespace guestlist::laws
