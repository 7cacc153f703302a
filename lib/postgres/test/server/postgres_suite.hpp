#pragma once

// What the suites share: one server for all cases of a suite, and ways to it.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "guestlist/postgres/postgres_connection.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist::test {

using namespace std::chrono_literals;

/// `Suite` is the suite itself, so that each has a server of its own.
template <class Suite>
class PostgresSuite : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ =
        std::make_unique<servers::PostgresServer>(servers::required(servers::PostgresServer::start(
            {.password = "right", .settings = {"max_prepared_transactions = 4"}})));
  }
  static void TearDownTestSuite() { server_.reset(); }

  static Deadline soon(Duration span = 20s) { return Deadline::after(span, SteadyClock()); }
  static PostgresOptions server_options() { return server_options(server_->port()); }
  static PostgresOptions server_options(std::uint16_t port) {
    return {.address = server_->connection_string(port)};
  }
  static PostgresConnection connect() {
    return servers::required(PostgresConnection::open(server_options(), soon()));
  }
  static void execute(const std::string& sql) {
    const servers::PostgresReply reply = server_->query(sql);
    ASSERT_FALSE(reply.is_error()) << reply.error;
  }

  static inline std::unique_ptr<servers::PostgresServer> server_;
};

}  // namespace guestlist::test
