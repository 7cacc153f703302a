// A commit is visible to nobody before it was acknowledged.

#include "follow_suite.hpp"

namespace guestlist::test {
namespace {

class PostgresSyncTest : public FollowSuite<PostgresSyncTest> {
 protected:
  PostgresSyncTest() {
    make_table();
    follow_.is_synchronous = true;
    options_ = {.address = server_->connection_string(), .application_name = "gate"};
  }
  ~PostgresSyncTest() override { set_standby_names(""); }

  static void set_standby_names(const std::string& names) {
    execute(fmt::format("ALTER SYSTEM SET synchronous_standby_names = '{}'", names));
    execute("SELECT pg_reload_conf()");
    EXPECT_TRUE(eventually([&] { return execute("SHOW synchronous_standby_names") == names; }));
  }
  bool is_visible(int key) const {
    return sql(fmt::format("SELECT count(*) FROM $t WHERE key = {}", key)) == "1";
  }
  static bool waits() {
    return eventually([&] {
      return execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0";
    });
  }
  /// Commits in a thread of its own.
  std::thread commit(int key) {
    return std::thread([this, key] {
      auto writer = connect();
      run(writer, with_table(fmt::format("INSERT INTO $t VALUES ({})", key)));
    });
  }
};

TEST_F(PostgresSyncTest, ACommitIsVisibleOnlyOnceItWasAcknowledged) {
  Following following(source());
  following.catch_up();
  set_standby_names("gate");
  for (int key = 1; key <= 20; ++key) {
    std::thread writer = commit(key);
    EXPECT_TRUE(eventually(
        [&] { return !following.next() || following.keys.contains(std::to_string(key)); }));
    EXPECT_FALSE(is_visible(key)) << key;
    EXPECT_TRUE(following.feed().acknowledge(following.position));
    writer.join();
    EXPECT_TRUE(is_visible(key)) << key;
  }
}

TEST_F(PostgresSyncTest, CommitsWaitWhileItIsAwayAndGoOnWhenItIsBack) {
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
    set_standby_names("gate");
  }
  std::thread writer = commit(1);
  EXPECT_TRUE(waits());
  Following again(source(), reached);
  EXPECT_TRUE(eventually([&] { return !again.next() || again.keys.contains("1"); }));
  EXPECT_FALSE(is_visible(1));
  EXPECT_TRUE(again.feed().acknowledge(again.position));
  writer.join();
}

// A new slot waits for open transactions, and those for us.
TEST_F(PostgresSyncTest, BeginsAlsoWhereCommitsWaitForItAlready) {
  set_standby_names("gate");
  std::thread writer = commit(1);
  EXPECT_TRUE(waits());
  Following following(source());
  ASSERT_TRUE(following.is_open());
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) {
      if (!following.next()) return;
      EXPECT_TRUE(following.feed().acknowledge(following.position));
    }
  });
  // Either it was let go before the slot, or it came by the feed.
  writer.join();
  EXPECT_TRUE(read(source().snapshot()).contains("1"));
  is_over = true;
  reader.join();
}

// Where no commit of the table comes, others wait for us all the same.
TEST_F(PostgresSyncTest, CommitsOfOtherTablesGoOn) {
  sql("CREATE TABLE $t_other (key int)");
  Following following(source());
  following.catch_up();
  set_standby_names("gate");
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) {
      EXPECT_TRUE(following.next());
      EXPECT_TRUE(following.feed().acknowledge(following.position));
    }
  });
  auto writer = connect();
  const TimePoint began = SteadyClock().now();
  for (int i = 0; i < 20; ++i) run(writer, with_table("INSERT INTO $t_other VALUES (1)"));
  const Duration took = SteadyClock().now() - began;
  is_over = true;
  reader.join();
  EXPECT_LT(took, 20s);
  set_standby_names("");
  sql("DROP TABLE $t_other");
}

}  // namespace
}  // namespace guestlist::test
