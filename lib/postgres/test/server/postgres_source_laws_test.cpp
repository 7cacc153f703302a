// A table of PostgreSQL keeps the laws of a Source, also through a network that loses connections.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "guestlist/postgres/postgres_source.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"
#include "guestlist/servers/tcp_gate.hpp"
#include "remote_source_laws.hpp"

namespace guestlist::laws {
namespace {

/// One for all laws; each has a table of its own.
class Server : public testing::Environment {
 public:
  void SetUp() override {
    running = std::make_unique<servers::PostgresServer>(
        servers::required(servers::PostgresServer::start()));
  }
  void TearDown() override { running.reset(); }

  static inline std::unique_ptr<servers::PostgresServer> running;
};
const testing::Environment* const server = testing::AddGlobalTestEnvironment(new Server);

class PostgresTableForm {
 public:
  PostgresTableForm() {
    static int number = 0;
    table_ = fmt::format("Law {}", ++number);
    query(fmt::format("CREATE TABLE \"{}\" (key text PRIMARY KEY, value text)", table_));
    source_ = servers::required(PostgresSource::open(
        {.address = Server::running->connection_string(gate_.port())},
        {.table = table_, .key_columns = {"key"}, .value_expression = "value"}));
  }

  Source& source() { return *source_; }
  void commit(const Rows& rows) {
    std::string values;
    for (const auto& [key, value] : rows)
      values += fmt::format("{}({}, {})", values.empty() ? "" : ", ", literal(key), literal(value));
    query(fmt::format("INSERT INTO \"{}\" VALUES {}", table_, values));
  }
  void remove(const std::string& key) {
    query(fmt::format("DELETE FROM \"{}\" WHERE key = {}", table_, literal(key)));
  }
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
    const servers::PostgresReply reply = Server::running->query(sql);
    EXPECT_FALSE(reply.is_error()) << reply.error;
  }

  servers::TcpGate gate_ = servers::required(servers::TcpGate::open(Server::running->port()));
  std::string table_;
  std::unique_ptr<PostgresSource> source_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, SourceLaws, PostgresTableForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, RemoteSourceLaws, PostgresTableForm);

}  // namespace
}  // namespace guestlist::laws
