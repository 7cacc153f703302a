// What becomes of a feed when the database is changed under it, and what it makes of every way in
// which rows come.

#include "follow_suite.hpp"

namespace guestlist::test {
namespace {

class PostgresFeedTest : public FollowSuite<PostgresFeedTest> {
 protected:
  /// Several statements, each in a transaction of its own.
  void each(const std::vector<std::string>& statements) const {
    for (const std::string& statement : statements) sql(statement);
  }
  /// The feed does not go on from here, and from now on a new one does.
  void expect_begins_anew(Following& following, const std::string& why = "") {
    const Error end = end_of(following);
    EXPECT_EQ(Errc::not_found, end.code) << end.message();
    EXPECT_THAT(end.message(), HasSubstr(why));
    expect_refused(following.position);
    following.close();
  }
  void expect_refused(const SourcePosition& position, const std::string& why = "") {
    const auto followed = source().follow(position);
    ASSERT_FALSE(followed);
    EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
    EXPECT_THAT(followed.error().message(), HasSubstr(why));
  }
  void expect_follows_anew(const std::string& key = "4711") {
    Following anew(source());
    sql(fmt::format("INSERT INTO $t (key) VALUES ('{}')", key));
    anew.catch_up();
    EXPECT_TRUE(anew.keys.contains(key));
  }
};

TEST_F(PostgresFeedTest, GivesEveryKeyHoweverItsRowComes) {
  make_table("key int PRIMARY KEY, value text");
  sql("INSERT INTO $t VALUES (1), (2), (3)");
  Following following(source());
  each(
      {"INSERT INTO $t VALUES (10), (11)",
       "INSERT INTO $t VALUES (1), (12) ON CONFLICT (key) DO UPDATE SET value = 'x'",
       "UPDATE $t SET key = 20 WHERE key = 2", "DELETE FROM $t WHERE key = 3",
       "BEGIN; INSERT INTO $t VALUES (30); SAVEPOINT s; INSERT INTO $t VALUES (31); ROLLBACK TO s; "
       "INSERT INTO $t VALUES (32); COMMIT",
       "BEGIN; INSERT INTO $t VALUES (40); ROLLBACK",
       "BEGIN; INSERT INTO $t VALUES (50); PREPARE TRANSACTION 'kept'",
       "BEGIN; INSERT INTO $t VALUES (51); PREPARE TRANSACTION 'dropped'", "COMMIT PREPARED 'kept'",
       "ROLLBACK PREPARED 'dropped'",
       "MERGE INTO $t USING (VALUES (60)) AS v(key) ON $t.key = v.key WHEN NOT MATCHED THEN "
       "INSERT VALUES (v.key)",
       "INSERT INTO $t SELECT i FROM generate_series(100000, 300000) i",
       "SET session_replication_role = replica; INSERT INTO $t VALUES (70); "
       "RESET session_replication_role"});
  following.catch_up();
  for (const int key : {10, 11, 12, 20, 30, 32, 50, 60, 70, 100'000, 300'000})
    EXPECT_TRUE(following.keys.contains(std::to_string(key))) << key;
  EXPECT_GE(following.keys.size(), 200'001u);
  EXPECT_GE(following.removed, 2u);
}

TEST_F(PostgresFeedTest, GivesEveryRowOfALargeCopy) {
  make_table();
  const std::string path = server_->folder().file("rows");
  sql(fmt::format("COPY (SELECT i, 'value' FROM generate_series(1, 1000000) i) TO '{}'", path));
  Following following(source());
  sql(fmt::format("COPY $t FROM '{}'", path));
  following.catch_up();
  EXPECT_EQ(1'000'000u, following.keys.size());
}

// The filter is filled from the one and kept right by the other: a key has one spelling.
TEST_F(PostgresFeedTest, SpellsKeysAsTheSnapshotDoes) {
  struct Case {
    std::string type;
    std::vector<std::string> values;
  };
  for (const Case& it : std::vector<Case>{
           {"smallint", {"'-1'", "'007'"}},
           {"bigint", {"'9223372036854775807'", "' 7'"}},
           {"numeric", {"'1.0'", "'12345678901234567890.10'", "'-0.50'", "'1e3'"}},
           {"numeric(9,2)", {"'1'", "'2.50'"}},
           {"uuid",
            {"'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'", "'a0eebc999c0b4ef8bb6d6bb9bd380a12'"}},
           {"char(8)", {"'ab'", "'abc     '"}},
           {"text", {"''", "E'tab\\tline\\nback\\\\slash'", "'ä漢'", "repeat('x', 1000)"}},
           {"varchar(20)", {"'x, y'", "'x '"}},
           {"bytea", {"'\\x'", "'\\x00ff10'"}}}) {
    SCOPED_TRACE(it.type);
    make_table("key " + it.type + " PRIMARY KEY");
    source_.reset();
    Following following(source());
    for (const std::string& value : it.values) sql("INSERT INTO $t VALUES (" + value + ")");
    following.catch_up();
    EXPECT_EQ(it.values.size(), following.keys.size());
    EXPECT_EQ(read(source().snapshot()), following.keys);
    following.close();
    sql("DROP TABLE $t");
  }
}

TEST_F(PostgresFeedTest, SpellsCompositeKeysAsTheSnapshotDoes) {
  make_table("b text, a int, note text, c numeric, PRIMARY KEY (a, b, c)");
  table_.key_columns = {"a", "b", "c"};
  sql("ALTER TABLE $t DROP COLUMN note");
  Following following(source());
  each({"INSERT INTO $t (a, b, c) VALUES (1, 'x,y', 1.0), (1, 'x', 2.50), (1, '', 3)",
        "UPDATE $t SET b = 'renamed' WHERE b = 'x'", "UPDATE $t SET c = 9 WHERE b = ''"});
  following.catch_up();
  const KeySet now = read(source().snapshot());
  EXPECT_EQ(3u, now.size());
  EXPECT_TRUE(laws::all_in(now, following.keys));
}

// A long value that an UPDATE does not touch is not sent again.
TEST_F(PostgresFeedTest, KeepsALongKeyThatDidNotChange) {
  make_table("a int PRIMARY KEY, key text, value text");
  sql("ALTER TABLE $t ALTER key SET STORAGE EXTERNAL");
  sql("INSERT INTO $t VALUES (1, repeat('long', 10000), 'x')");
  Following following(source());
  sql("UPDATE $t SET value = 'y'");
  sql("UPDATE $t SET a = 2");
  sql("INSERT INTO $t VALUES (3, 'short')");
  following.catch_up();
  EXPECT_EQ(KeySet{"short"}, following.keys);
}

// Of a key of two columns one is not sent: nobody can say what the key is now.
TEST_F(PostgresFeedTest, BeginsAnewWhereAPartOfAChangedKeyIsNotSent) {
  make_table("a int PRIMARY KEY, key text");
  table_.key_columns = {"a", "key"};
  sql("ALTER TABLE $t ALTER key SET STORAGE EXTERNAL");
  sql("INSERT INTO $t VALUES (1, repeat('long', 10000))");
  Following following(source());
  sql("UPDATE $t SET a = 2");
  const Error end = end_of(following);
  EXPECT_EQ(Errc::not_found, end.code) << end.message();
  EXPECT_THAT(end.message(), HasSubstr("did not send its column 'key'"));
}

TEST_F(PostgresFeedTest, CountsTheRowsThatTruncateTookAndGoesOn) {
  make_table();
  sql("INSERT INTO $t SELECT i FROM generate_series(1, 1000) i");
  execute("VACUUM ANALYZE " + table_.table);
  Following following(source());
  following.catch_up();
  sql("TRUNCATE $t");
  sql("INSERT INTO $t VALUES (5000)");
  following.catch_up();
  EXPECT_GE(following.removed, 1000u);
  EXPECT_TRUE(following.keys.contains("5000"));
}

TEST_F(PostgresFeedTest, GivesTheKeysOfPartitions) {
  sql("CREATE TABLE $t (key int PRIMARY KEY) PARTITION BY RANGE (key)");
  sql("CREATE TABLE $t_a PARTITION OF $t FOR VALUES FROM (0) TO (100)");
  sql("CREATE TABLE $t_b PARTITION OF $t FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (key)");
  sql("CREATE TABLE $t_c PARTITION OF $t_b FOR VALUES FROM (100) TO (200)");
  Following following(source());
  each({"INSERT INTO $t VALUES (1), (101)", "INSERT INTO $t_a VALUES (2)",
        "INSERT INTO $t_c VALUES (102)", "UPDATE $t SET key = 150 WHERE key = 1"});
  following.catch_up();
  for (const char* key : {"1", "2", "101", "102", "150"})
    EXPECT_TRUE(following.keys.contains(key)) << key;
}

// Each of these can bring keys, or hide them, without a word in the stream.
TEST_F(PostgresFeedTest, BeginsAnewAfterAChangeThatTheStreamDoesNotShow) {
  struct Case {
    std::string what;
    std::vector<std::string> statements;
    /// After which the table can be followed again.
    std::vector<std::string> repair;
  };
  for (Case it : std::vector<Case>{
           {"a filled partition is attached",
            {"CREATE TABLE $t_new (key int PRIMARY KEY)", "INSERT INTO $t_new VALUES (5001)",
             "ALTER TABLE $t ATTACH PARTITION $t_new FOR VALUES FROM (5000) TO (6000)"},
            {}},
           {"a partition is detached", {"ALTER TABLE $t DETACH PARTITION $t_a"}, {}},
           {"the table is swapped by rename",
            {"CREATE TABLE $t_other (key int PRIMARY KEY)",
             "BEGIN; ALTER TABLE $t RENAME TO $t_old; ALTER TABLE $t_other RENAME TO $t; COMMIT"},
            {}},
           {"the table is dropped and made again",
            {"DROP TABLE $t CASCADE", "CREATE TABLE $t (key int PRIMARY KEY)"},
            {}},
           {"the key column is renamed",
            {"ALTER TABLE $t RENAME key TO other"},
            {"ALTER TABLE $t RENAME other TO key"}},
           {"the key column has another type", {"ALTER TABLE $t_plain ALTER key TYPE bigint"}, {}},
           {"the publication is dropped", {"DROP PUBLICATION $p"}, {}},
           {"the publication is made anew",
            {"DROP PUBLICATION $p",
             "CREATE PUBLICATION $p FOR TABLE $t WITH "
             "(publish_via_partition_root = true)"},
            {}},
           {"the publication is altered there and back",
            {"ALTER PUBLICATION $p SET (publish = 'delete')",
             "ALTER PUBLICATION $p SET (publish = 'insert, update, delete, truncate')"},
            {}},
           {"the replica identity is another",
            {"ALTER TABLE $t_plain REPLICA IDENTITY FULL"},
            {}}}) {
    SCOPED_TRACE(it.what);
    // A plain table where the change is one of its columns, else a partitioned one.
    const bool is_plain = it.statements.front().find("$t_plain") != std::string::npos;
    if (is_plain) {
      make_table("key int PRIMARY KEY");
    } else {
      sql("CREATE TABLE $t (key int PRIMARY KEY) PARTITION BY RANGE (key)");
      sql("CREATE TABLE $t_a PARTITION OF $t FOR VALUES FROM (0) TO (1000)");
      sql("CREATE TABLE $t_b PARTITION OF $t FOR VALUES FROM (4000) TO (5000)");
    }
    // PostgreSQL refuses another type for a column that a publication lists.
    follow_.publish_key_columns_only = it.what != "the key column has another type";
    source_.reset();
    {
      Following following(source());
      sql("INSERT INTO $t VALUES (4001)");
      following.catch_up();
      for (std::vector<std::string>* const statements : {&it.statements, &it.repair}) {
        for (std::string& statement : *statements) {
          for (auto at = statement.find("$p"); at != std::string::npos; at = statement.find("$p"))
            statement.replace(at, 2, follow_.slot);
          for (auto at = statement.find("$t_plain"); at != std::string::npos;
               at = statement.find("$t_plain"))
            statement.replace(at, 8, "$t");
          if (statements == &it.statements) sql(statement);
        }
      }
      const Error end = end_of(following);
      EXPECT_EQ(Errc::not_found, end.code) << end.message();
      for (const std::string& statement : it.repair) sql(statement);
      expect_refused(following.position);
    }
    expect_follows_anew("4711");
    sql("DROP TABLE IF EXISTS $t, $t_old, $t_a CASCADE");
  }
}

TEST_F(PostgresFeedTest, SaysThatTheTableOrItsColumnIsGone) {
  make_table("key int, id int PRIMARY KEY");
  follow_.publish_key_columns_only = false;
  Following following(source());
  sql("ALTER TABLE $t DROP COLUMN key");
  expect_begins_anew(following, "has no column 'key'");
  const auto without_column = source().follow(std::nullopt);
  ASSERT_FALSE(without_column);
  EXPECT_EQ(Errc::invalid_argument, without_column.error().code);
  sql("DROP TABLE $t");
  const auto without_table = source().follow(std::nullopt);
  ASSERT_FALSE(without_table);
  EXPECT_EQ(Errc::invalid_argument, without_table.error().code);
  EXPECT_THAT(without_table.error().message(), HasSubstr("has no table"));
}

// The application's own updates are refused while a publication publishes what cannot be
// identified.
TEST_F(PostgresFeedTest, LetsTheApplicationGoOnWhenThePrimaryKeyIsDropped) {
  make_table();
  sql("INSERT INTO $t VALUES (1)");
  Following following(source());
  sql("ALTER TABLE $t DROP CONSTRAINT $t_pkey");
  const Error end = end_of(following);
  EXPECT_EQ(Errc::not_found, end.code) << end.message();
  sql("UPDATE $t SET value = 'x'");
  EXPECT_EQ("0", execute("SELECT count(*) FROM pg_publication"));
}

TEST_F(PostgresFeedTest, DoesNotUseAPublicationWithARowFilter) {
  make_table("key int PRIMARY KEY, deleted boolean");
  sql(fmt::format("CREATE PUBLICATION {} FOR TABLE $t WHERE (key > 10)", follow_.slot));
  Following following(source());
  sql("INSERT INTO $t VALUES (1)");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("1"));
}

TEST_F(PostgresFeedTest, MovesItsSlotOnWhileOnlyOtherTablesAreWritten) {
  make_table();
  sql("CREATE TABLE $t_busy (text text)");
  Following following(source());
  following.catch_up();
  const std::string before = execute("SELECT pg_current_wal_lsn()");
  for (int i = 0; i < 4; ++i) {
    sql("INSERT INTO $t_busy SELECT repeat(md5(i::text), 30) FROM generate_series(1, 20000) i");
    execute("CHECKPOINT");
  }
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(following.next());
    EXPECT_TRUE(following.feed().acknowledge(following.position));
    return slot(fmt::format("restart_lsn > '{}'", before)) == "t";
  }));
  EXPECT_TRUE(following.keys.empty());
  sql("DROP TABLE $t_busy");
}

TEST_F(PostgresFeedTest, StaysConnectedToAServerThatWantsSignsOfLife) {
  make_table();
  Following following(source());
  const TimePoint until = SteadyClock().now() + 5s;  // wal_sender_timeout is 2 s
  while (SteadyClock().now() < until) ASSERT_TRUE(following.next());
}

TEST_F(PostgresFeedTest, GivesItsSlotUpWhereItKeepsMoreThanItMay) {
  make_table();
  sql("CREATE TABLE $t_busy (text text)");
  follow_.max_retained_bytes = 4 << 20;
  Following following(source());
  following.catch_up();
  sql("INSERT INTO $t_busy SELECT repeat(md5(i::text), 30) FROM generate_series(1, 20000) i");
  const Error end = end_of(following);
  EXPECT_EQ(Errc::not_found, end.code) << end.message();
  EXPECT_THAT(end.message(), HasSubstr("the slot was dropped"));
  EXPECT_EQ("0", execute("SELECT count(*) FROM pg_replication_slots"));
  following.close();
  expect_follows_anew();
  sql("DROP TABLE $t_busy");
}

TEST_F(PostgresFeedTest, GivesItsSlotUpWhenItComesBackAfterALongTime) {
  make_table();
  sql("CREATE TABLE $t_busy (text text)");
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
  }
  sql("INSERT INTO $t_busy SELECT repeat(md5(i::text), 30) FROM generate_series(1, 20000) i");
  follow_.max_retained_bytes = 4 << 20;
  source_.reset();
  expect_refused(reached, "the slot was dropped");
  EXPECT_EQ("0", execute("SELECT count(*) FROM pg_replication_slots"));
  expect_follows_anew();
  sql("DROP TABLE $t_busy");
}

TEST_F(PostgresFeedTest, BeginsAnewWhereTheServerHasRemovedTheLog) {
  make_table();
  sql("CREATE TABLE $t_busy (text text)");
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
  }
  execute("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
  execute("SELECT pg_reload_conf()");
  EXPECT_TRUE(eventually([&] {
    sql("INSERT INTO $t_busy SELECT repeat(md5(i::text), 30) FROM generate_series(1, 5000) i");
    execute("SELECT pg_switch_wal()");
    execute("CHECKPOINT");
    return slot("wal_status") == "lost";
  }));
  expect_refused(reached, "lost");
  execute("ALTER SYSTEM RESET max_slot_wal_keep_size");
  execute("SELECT pg_reload_conf()");
  expect_follows_anew();
  sql("DROP TABLE $t_busy");
}

TEST_F(PostgresFeedTest, BeginsAnewWhereItsSlotIsDroppedUnderIt) {
  make_table();
  Following following(source());
  following.catch_up();
  execute(
      fmt::format("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE "
                  "slot_name = '{}'",
                  follow_.slot));
  EXPECT_TRUE(eventually([&] {
    return !server_->query(fmt::format("SELECT pg_drop_replication_slot('{}')", follow_.slot))
                .is_error();
  }));
  (void)end_of(following);
  expect_refused(following.position, "gone");
  following.close();
  expect_follows_anew();
}

TEST_F(PostgresFeedTest, ASecondFollowerWaitsAndTakesOver) {
  make_table();
  Following first(source());
  first.catch_up();
  auto second = required(open());
  const auto refused = second->follow(first.position);
  ASSERT_FALSE(refused);
  EXPECT_EQ(Errc::overloaded, refused.error().code) << refused.error().message();
  EXPECT_THAT(refused.error().message(), HasSubstr("pid"));
  const SourcePosition reached = first.position;
  sql("INSERT INTO $t VALUES (1)");
  first.close();
  EXPECT_TRUE(eventually([&] {
    auto feed = second->follow(reached);
    if (!feed) {
      EXPECT_EQ(Errc::overloaded, feed.error().code) << feed.error().message();
    }
    return feed.has_value();
  }));
  Following after(*second, reached);
  after.catch_up();
  EXPECT_TRUE(after.keys.contains("1"));
}

TEST_F(PostgresFeedTest, OfThreeThatStartAtOnceOneFollows) {
  make_table();
  std::vector<std::unique_ptr<PostgresFollowedSource>> sources;
  for (int i = 0; i < 3; ++i) sources.push_back(required(open()));
  std::vector<std::unique_ptr<ChangeFeed>> feeds(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      // As a follower does it: again and again.
      for (int attempt = 0; attempt < 20 && feeds[i] == nullptr; ++attempt) {
        if (auto feed = sources[i]->follow(std::nullopt)) feeds[i] = *std::move(feed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(1, std::ranges::count_if(feeds, [](const auto& feed) { return feed != nullptr; }));
  sql("INSERT INTO $t VALUES (1)");
  for (const auto& feed : feeds) {
    if (feed == nullptr) continue;
    Changes changes;
    EXPECT_TRUE(eventually([&] {
      const auto given = feed->next(changes, laws::in_a_moment());
      EXPECT_TRUE(given) << given.error().message();
      return std::ranges::count(changes.keys, "1") > 0;
    }));
  }
}

TEST_F(PostgresFeedTest, ForgettingLeavesNeitherSlotNorPublication) {
  make_table();
  {
    Following following(source());
    const auto held = source().forget();
    ASSERT_FALSE(held);
    EXPECT_EQ(Errc::overloaded, held.error().code);
  }
  EXPECT_TRUE(eventually([&] { return source().forget().has_value(); }));
  EXPECT_EQ("0",
            execute("SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM "
                    "pg_publication)"));
  EXPECT_TRUE(source().forget());
}

TEST_F(PostgresFeedTest, GoesOnAfterTheServerCrashed) {
  make_table();
  Following following(source());
  sql("INSERT INTO $t VALUES (1)");
  following.catch_up();
  // Before the second key, which may come still before the end is noticed.
  const SourcePosition reached = following.position;
  sql("INSERT INTO $t VALUES (2)");
  server_->kill();
  const Error end = end_of(following);
  EXPECT_EQ(Errc::unavailable, end.code) << end.message();
  following.close();
  ASSERT_TRUE(server_->restart());
  sql("INSERT INTO $t VALUES (3)");
  Following again(source(), reached);
  again.catch_up();
  EXPECT_TRUE(laws::all_in({"2", "3"}, again.keys));
}

// Its commit is in the log before the slot begins, so the feed will not give it; and it waits for
// a standby, so nobody can see it yet.
TEST_F(PostgresFeedTest, ASnapshotWaitsForACommitThatWasInTheLogBeforeTheSlot) {
  make_table();
  follow_.snapshot_wait = 2s;
  auto first = connect();
  auto second = connect();
  const auto waits = [&](const std::string& who, const std::string& for_what) {
    return eventually([&] {
      return execute(fmt::format("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                                 "'{}' AND wait_event = '{}'",
                                 who, for_what)) == "1";
    });
  };
  run(first, with_table("BEGIN; INSERT INTO $t VALUES (1)"));
  (void)source();
  Result<std::unique_ptr<ChangeFeed>> feed = fail(Errc::unavailable, "not yet");
  std::thread follower([&] { feed = source().follow(std::nullopt); });
  // The slot waits for the first; when that ends, for the second, and has all of what begins then.
  EXPECT_TRUE(waits("guestlist", "transactionid"));
  run(second, with_table("BEGIN; INSERT INTO $t VALUES (2)"));
  run(first, "ROLLBACK");
  EXPECT_TRUE(waits("guestlist", "transactionid"));
  execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  execute("SELECT pg_reload_conf()");
  EXPECT_TRUE(eventually([&] { return execute("SHOW synchronous_standby_names") == "nobody"; }));
  std::thread third([&] {
    auto writer = required(PostgresConnection::open(
        {.address = server_->connection_string(), .application_name = "hidden"}, soon()));
    EXPECT_TRUE(writer.execute(with_table("INSERT INTO $t VALUES (3)"), soon(60s)));
  });
  EXPECT_TRUE(waits("hidden", "SyncRep"));
  run(second, "ROLLBACK");
  follower.join();
  ASSERT_TRUE(feed) << feed.error().message();

  const auto hidden = source().snapshot();
  ASSERT_FALSE(hidden) << "the snapshot shows no row, and the feed will give none";
  EXPECT_EQ(Errc::unavailable, hidden.error().code);
  EXPECT_THAT(hidden.error().message(), HasSubstr("hidden"));
  execute("ALTER SYSTEM RESET synchronous_standby_names");
  execute("SELECT pg_reload_conf()");
  third.join();
  EXPECT_TRUE(read(source().snapshot()).contains("3"));
}

// What is in the log again from there are also the heartbeats of the feed before.
TEST_F(PostgresFeedTest, SaysOnlyThatAllHasComeWhenItHasAlsoWhereItGoesOn) {
  make_table();
  follow_.heartbeat = 5ms;
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
    const TimePoint until = SteadyClock().now() + 1s;
    while (SteadyClock().now() < until) ASSERT_TRUE(following.next());
  }
  sql("INSERT INTO $t SELECT i FROM generate_series(1, 300000) i");
  sql("INSERT INTO $t VALUES (4000000)");
  const TimePoint committed = SteadyClock().now();
  Following again(source(), reached);
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(again.next());
    const bool has_come = again.keys.contains("4000000");
    if (!has_come && again.as_of) {
      EXPECT_LT(*again.as_of, committed);
    }
    return has_come;
  }));
}

TEST_F(PostgresFeedTest, ANewSlotWaitsForWhoeverWritesAndSaysWho) {
  make_table();
  auto writer = connect();
  run(writer, with_table("BEGIN; INSERT INTO $t VALUES (1)"));
  follow_.slot_timeout = 200ms;
  const auto refused = source().follow(std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(Errc::unavailable, refused.error().code);
  EXPECT_THAT(refused.error().message(), HasSubstr("writer"));
  EXPECT_EQ("0", execute("SELECT count(*) FROM pg_replication_slots"));
  // Longer than we wait for any lock.
  follow_.slot_timeout = 20s;
  source_.reset();
  (void)source();
  Result<std::unique_ptr<ChangeFeed>> feed = fail(Errc::unavailable, "not yet");
  std::thread follower([&] { feed = source().follow(std::nullopt); });
  EXPECT_TRUE(eventually([&] {
    return execute(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid' AND "
               "query_start < now() - interval '5500 milliseconds'") == "1";
  }));
  run(writer, "COMMIT");
  follower.join();
  EXPECT_TRUE(feed) << feed.error().message();
}

// Somebody who thinks for an hour within a transaction holds up no snapshot: he has not committed.
TEST_F(PostgresFeedTest, ASnapshotDoesNotWaitForATransactionThatIsIdle) {
  make_table();
  follow_.snapshot_wait = 2s;
  SourcePosition reached;
  {
    Following following(source());
    following.catch_up();
    reached = following.position;
  }
  auto writer = connect();
  run(writer, with_table("BEGIN; INSERT INTO $t VALUES (1)"));
  source_.reset();
  Following following(source(), reached);
  EXPECT_FALSE(read(source().snapshot()).contains("1"));
  run(writer, "COMMIT");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("1"));
}

}  // namespace
}  // namespace guestlist::test
