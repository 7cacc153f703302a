// Another server in the place of the one that was followed.

#include "follow_suite.hpp"

namespace guestlist::test {
namespace {

class PostgresFailoverTest : public FollowSuite<PostgresFailoverTest> {
 protected:
  static std::string either(const servers::PostgresServer& one,
                            const servers::PostgresServer& other) {
    return fmt::format("host=127.0.0.1,127.0.0.1 port={},{} user={} dbname={}", one.port(),
                       other.port(), servers::PostgresServer::user,
                       servers::PostgresServer::database);
  }
};

TEST_F(PostgresFailoverTest, BeginsAnewOnAStandbyThatWasPromoted) {
  auto primary = required(servers::PostgresServer::start({.logical_replication = true}));
  primary.query(with_table("CREATE TABLE $t (key int PRIMARY KEY)"));
  auto standby = required(servers::PostgresServer::start_standby(primary, "standby"));
  options_.address = either(primary, standby);
  SourcePosition reached;
  {
    Following following(source());
    primary.query(with_table("INSERT INTO $t VALUES (1)"));
    following.catch_up();
    reached = following.position;
    // The standby replays until here, and the next row is lost with the primary.
    const std::string end = primary.query("SELECT pg_current_wal_lsn()").text();
    EXPECT_TRUE(eventually([&] {
      return standby.query("SELECT pg_last_wal_replay_lsn() >= '" + end + "'").text() == "t";
    }));
    primary.kill();
    const Error end_of_feed = end_of(following);
    EXPECT_EQ(Errc::unavailable, end_of_feed.code) << end_of_feed.message();
  }
  const auto nowhere = source().follow(reached);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(Errc::unavailable, nowhere.error().code) << nowhere.error().message();
  EXPECT_EQ("t", standby.query("SELECT pg_promote()").text());
  const auto followed = source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
  EXPECT_THAT(followed.error().message(), HasSubstr("promoted"));
  Following anew(source());
  standby.query(with_table("INSERT INTO $t VALUES (2)"));
  anew.catch_up();
  EXPECT_TRUE(anew.keys.contains("2"));
  EXPECT_TRUE(read(source().snapshot()).contains("1"));
  anew.close();
  source_.reset();
}

TEST_F(PostgresFailoverTest, BeginsAnewOnAnotherSystem) {
  auto first = required(servers::PostgresServer::start({.logical_replication = true}));
  auto second = required(servers::PostgresServer::start({.logical_replication = true}));
  for (auto* const each : {&first, &second})
    each->query(with_table("CREATE TABLE $t (key int PRIMARY KEY)"));
  options_.address = either(first, second);
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
  }
  first.kill();
  const auto followed = source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
  EXPECT_THAT(followed.error().message(), HasSubstr("another one"));
  Following anew(source());
  second.query(with_table("INSERT INTO $t VALUES (2)"));
  anew.catch_up();
  EXPECT_TRUE(anew.keys.contains("2"));
  anew.close();
  source_.reset();
}

}  // namespace
}  // namespace guestlist::test
