#include "guestlist/postgres/postgres_connection.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guestlist/servers/tcp_gate.hpp"
#include "postgres_suite.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using servers::required;
using testing::HasSubstr;
using testing::Not;

class PostgresConnectionTest : public test::PostgresSuite<PostgresConnectionTest> {};

TEST_F(PostgresConnectionTest, GivesRowsAndNullsAndCounts) {
  PostgresConnection connection = connect();
  const auto rows = required(connection.execute(
      "SELECT $1::int + 1, $2::text UNION ALL SELECT 0, NULL", {"41", "a'b\\"}, soon()));
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ(2u, rows.columns());
  EXPECT_EQ("42", rows.text(0, 0));
  EXPECT_EQ("a'b\\", rows.text(0, 1));
  EXPECT_TRUE(rows.is_null(1, 1));
  EXPECT_EQ(2u, rows.affected());
}

TEST_F(PostgresConnectionTest, HasItsOwnSettingsWhateverTheRoleSays) {
  execute(
      "CREATE ROLE odd LOGIN SUPERUSER PASSWORD 'odd'; ALTER ROLE odd SET datestyle = 'German, "
      "DMY'; ALTER ROLE "
      "odd SET bytea_output = escape; ALTER ROLE odd SET timezone = 'Asia/Tokyo'; ALTER ROLE odd "
      "SET default_transaction_isolation = 'repeatable read'; ALTER ROLE odd SET client_encoding = "
      "LATIN1; ALTER ROLE odd SET intervalstyle = iso_8601; ALTER ROLE odd SET extra_float_digits "
      "= 0; ALTER ROLE odd SET statement_timeout = '1h'");
  PostgresOptions options = server_options();
  options.address =
      fmt::format("postgresql://odd:odd@127.0.0.1:{}/postgres?options=-c%20datestyle%3DGerman",
                  server_->port());
  auto connection = required(PostgresConnection::open(options, soon()));
  const auto rows = required(connection.execute(
      "SELECT '2026-12-01 10:00+00'::timestamptz, '\\x00ff'::bytea, '1 day'::interval, "
      "0.1::float8 + 0.2::float8, current_setting('transaction_isolation'), "
      "current_setting('client_encoding'), current_setting('statement_timeout'), "
      "current_setting('row_security'), current_setting('application_name')",
      soon()));
  const std::vector<std::string> expected = {"2026-12-01 10:00:00+00",
                                             "\\x00ff",
                                             "1 day",
                                             "0.30000000000000004",
                                             "read committed",
                                             "UTF8",
                                             "5s",
                                             "off",
                                             "guestlist"};
  for (std::size_t column = 0; column < expected.size(); ++column) {
    EXPECT_EQ(expected[column], rows.text(0, column));
  }
}

TEST_F(PostgresConnectionTest, SaysInOneLineWhyItDoesNotConnect) {
  const auto reason = [](const std::string& address) {
    const auto failed = PostgresConnection::open({.address = address}, soon());
    EXPECT_FALSE(failed);
    const std::string message = failed ? "" : failed.error().message();
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    EXPECT_THAT(message, Not(HasSubstr("wrong-secret")));
    return message;
  };
  const std::string here = fmt::format("host=127.0.0.1 port={} ", server_->port());
  EXPECT_THAT(reason(here + "user=guestlist password=right dbname=nowhere"),
              HasSubstr("database \"nowhere\" does not exist"));
  EXPECT_THAT(reason(here + "user=guestlist dbname=postgres password=wrong-secret"),
              HasSubstr("password authentication failed for user \"guestlist\""));
  EXPECT_THAT(reason("host=127.0.0.1 port=1 user=postgres"), HasSubstr("Connection refused"));
  EXPECT_THAT(reason("postgresql://me:wrong-secret@[bad/db"), HasSubstr("address"));
  EXPECT_THAT(reason("wrong-secret"), HasSubstr("address"));
}

TEST_F(PostgresConnectionTest, SaysInOneLineWhatAStatementFailedOf) {
  PostgresConnection connection = connect();
  required(connection.execute("CREATE TABLE once (id int PRIMARY KEY)", soon()));
  const auto fails = [&](const std::string& sql, Errc reason) {
    const auto failed = connection.execute(sql, soon());
    ASSERT_FALSE(failed) << sql;
    EXPECT_EQ(reason, failed.error().code) << failed.error().message();
    EXPECT_THAT(failed.error().message(), Not(HasSubstr("\n")));
  };
  fails("SELECT * FROM nowhere", Errc::not_found);
  fails("SELECT nothing FROM once", Errc::not_found);
  fails("SELEC", Errc::invalid_argument);
  fails("SELECT 'x'::int", Errc::invalid_argument);
  fails("INSERT INTO once VALUES (1), (1)", Errc::already_exists);
  fails("COPY once TO STDOUT", Errc::invalid_argument);
}

TEST_F(PostgresConnectionTest, KeepsItsDeadlineAndIsClosedAfterIt) {
  PostgresConnection connection = connect();
  const SteadyClock clock;
  const TimePoint began = clock.now();
  const auto slow = connection.execute("SELECT pg_sleep(30)", soon(100ms));
  ASSERT_FALSE(slow);
  EXPECT_EQ(Errc::deadline_exceeded, slow.error().code);
  EXPECT_LT(clock.now() - began, 2s);
  EXPECT_FALSE(connection.is_open());
  EXPECT_EQ(Errc::unavailable, connection.execute("SELECT 1", soon()).error().code);
}

TEST_F(PostgresConnectionTest, DoesNotWaitForANetworkThatHangs) {
  auto gate = required(servers::TcpGate::open(server_->port()));
  PostgresOptions options = server_options(gate.port());
  options.connect_timeout = 200ms;
  auto connection = required(PostgresConnection::open(options, soon()));
  gate.inject({.hold_requests = true, .hold_replies = true});
  EXPECT_EQ(Errc::deadline_exceeded, connection.execute("SELECT 1", soon(100ms)).error().code);
  EXPECT_EQ(Errc::deadline_exceeded, PostgresConnection::open(options, soon()).error().code);
}

TEST_F(PostgresConnectionTest, TheServerEndsAStatementThatTakesTooLong) {
  PostgresOptions options = server_options();
  options.statement_timeout = 50ms;
  auto connection = required(PostgresConnection::open(options, soon()));
  EXPECT_EQ(Errc::deadline_exceeded,
            connection.execute("SELECT pg_sleep(30)", soon()).error().code);
  EXPECT_TRUE(connection.is_open());
  EXPECT_TRUE(connection.execute("SELECT 1", soon()));
}

}  // namespace
}  // namespace guestlist
