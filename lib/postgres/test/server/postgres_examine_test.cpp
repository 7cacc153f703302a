// What the examination finds, before it hurts: each finding is one line, with another that says
// what to do.

#include "follow_suite.hpp"

namespace guestlist::test {
namespace {

class PostgresExamineTest : public FollowSuite<PostgresExamineTest> {
 protected:
  ~PostgresExamineTest() override {
    execute("ALTER SYSTEM RESET ALL");
    execute("SELECT pg_reload_conf()");
  }
  /// As another role than the superuser.
  void as_role(const std::string& rights) {
    execute("DROP ROLE IF EXISTS plain");
    execute("CREATE ROLE plain LOGIN " + rights);
    options_.address = server_->connection_string() + " user=plain";
  }
  void drop_role() { execute("DROP OWNED BY plain; DROP ROLE plain"); }
  std::vector<Finding> examine() {
    auto found = source().examine(soon());
    for (const Finding& finding : found) {
      EXPECT_EQ(std::string::npos, (finding.what + finding.fix).find('\n')) << finding.what;
      EXPECT_EQ(finding.severity == Severity::good, finding.fix.empty()) << finding.what;
    }
    return found;
  }
  static std::string text(const std::vector<Finding>& findings, Severity severity) {
    std::string all;
    for (const Finding& finding : findings) {
      if (finding.severity == severity) all += finding.what + " -> " + finding.fix + "\n";
    }
    return all;
  }
  std::string errors() { return text(examine(), Severity::error); }
  std::string warnings() { return text(examine(), Severity::warning); }
  /// Settings that a reload takes.
  void set(const std::string& setting) {
    execute("ALTER SYSTEM SET " + setting);
    execute("SELECT pg_reload_conf()");
    const std::string name = setting.substr(0, setting.find(' '));
    EXPECT_TRUE(eventually([&] {
      return execute(
                 "SELECT pending_restart OR source = 'configuration file' FROM pg_settings "
                 "WHERE name = '" +
                 name + "'") == "t";
    }));
  }
};

TEST_F(PostgresExamineTest, FindsNoErrorWhereAllIsWellAndChangesNothing) {
  make_table();
  EXPECT_EQ("", errors());
  EXPECT_EQ("0",
            execute("SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM "
                    "pg_publication)"));
}

TEST_F(PostgresExamineTest, WarnsOfALogThatGrowsWithoutBound) {
  make_table();
  EXPECT_THAT(warnings(), HasSubstr("set max_slot_wal_keep_size"));
  set("max_slot_wal_keep_size = '1GB'");
  EXPECT_EQ("", warnings());
}

TEST_F(PostgresExamineTest, NamesTheRightThatTheRoleLacks) {
  make_table();
  as_role("NOREPLICATION");
  sql("GRANT SELECT ON $t TO plain");
  const std::string found = errors();
  EXPECT_THAT(found, HasSubstr("ALTER ROLE \"plain\" REPLICATION"));
  EXPECT_THAT(found, HasSubstr("the table's owner runs: CREATE PUBLICATION"));
  source_.reset();
  drop_role();
}

TEST_F(PostgresExamineTest, IsContentWithARoleThatMayOnlyReadWhereTheOwnerMadeThePublication) {
  make_table();
  follow_.publication = follow_.slot;
  sql(fmt::format("CREATE PUBLICATION {} FOR TABLE $t", follow_.slot));
  as_role("REPLICATION");
  sql("GRANT SELECT ON $t TO plain");
  EXPECT_EQ("", errors());
  Following following(source());
  sql("INSERT INTO $t VALUES (7)");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("7"));
  following.close();
  source_.reset();
  drop_role();
}

TEST_F(PostgresExamineTest, NamesAColumnThatTheRoleMayNotRead) {
  make_table();
  as_role("REPLICATION");
  EXPECT_THAT(errors(), HasSubstr("may not read the column 'key' -> run GRANT SELECT"));
  source_.reset();
  drop_role();
}

TEST_F(PostgresExamineTest, NamesAPolicyThatHidesRows) {
  make_table();
  as_role("REPLICATION");
  sql("GRANT SELECT ON $t TO plain");
  (void)source();
  sql("ALTER TABLE $t ENABLE ROW LEVEL SECURITY");
  EXPECT_THAT(errors(), HasSubstr("row security"));
  source_.reset();
  drop_role();
}

TEST_F(PostgresExamineTest, SaysThatEverySlotIsTaken) {
  make_table();
  for (int i = 0; i < 10; ++i)
    execute(fmt::format("SELECT pg_create_logical_replication_slot('other{}', 'pgoutput')", i));
  EXPECT_THAT(errors(), HasSubstr("raise max_replication_slots"));
}

TEST_F(PostgresExamineTest, SaysThatTheSlotIsOfAnotherPlugin) {
  make_table();
  execute(fmt::format("SELECT pg_create_physical_replication_slot('{}')", follow_.slot));
  EXPECT_THAT(errors(), HasSubstr("is of another database or plugin"));
}

TEST_F(PostgresExamineTest, SaysThatATransactionHoldsANewSlotUp) {
  make_table();
  follow_.slot_timeout = Duration::zero();
  auto writer = connect();
  run(writer, with_table("BEGIN; INSERT INTO $t VALUES (1)"));
  EXPECT_THAT(warnings(), HasSubstr("writer"));
}

TEST_F(PostgresExamineTest, SaysWhatIsWrongWithThePublication) {
  make_table();
  sql(fmt::format("CREATE PUBLICATION {} FOR TABLE $t WITH (publish = 'update')", follow_.slot));
  EXPECT_THAT(warnings(), HasSubstr("it does not publish inserts"));
  sql("ALTER TABLE $t DROP CONSTRAINT $t_pkey");
  follow_.keys_never_change = true;
  source_.reset();
  EXPECT_THAT(errors(), HasSubstr("PostgreSQL refuses updates and deletes of the table"));
}

// What would be missed, or would hurt the application, is refused by name, and followed neither.
TEST_F(PostgresExamineTest, RefusesWhatCannotBeFollowed) {
  struct Case {
    std::string make;
    std::string says;
  };
  for (const Case& it : std::vector<Case>{
           {"CREATE TABLE $t (key int)", "REPLICA IDENTITY"},
           {"CREATE UNLOGGED TABLE $t (key int PRIMARY KEY)", "is unlogged"},
           {"CREATE VIEW $t AS SELECT 1 AS key", "is a view"},
           {"CREATE TABLE $t (id int PRIMARY KEY, key int GENERATED ALWAYS AS (id + 1) STORED)",
            "is generated"},
           {"CREATE TABLE $t (key int PRIMARY KEY); CREATE TABLE $t_heir () INHERITS ($t)",
            "partition the table instead"},
           {"CREATE TABLE $t (key int PRIMARY KEY) PARTITION BY RANGE (key); "
            "CREATE UNLOGGED TABLE $t_part PARTITION OF $t DEFAULT",
            "is unlogged"}}) {
    sql(it.make);
    source_.reset();
    EXPECT_THAT(errors(), HasSubstr(it.says)) << it.make;
    const auto followed = source().follow(std::nullopt);
    ASSERT_FALSE(followed) << it.make;
    EXPECT_EQ(Errc::invalid_argument, followed.error().code) << followed.error().message();
    EXPECT_THAT(followed.error().message(), HasSubstr(it.says));
    source_.reset();
    sql("DO $do$ BEGIN IF (SELECT relkind = 'v' FROM pg_class WHERE oid = '$t'::regclass) THEN "
        "DROP "
        "VIEW $t; ELSE DROP TABLE $t CASCADE; END IF; END $do$");
  }
}

TEST_F(PostgresExamineTest, SaysThatTheTableOrAColumnIsGone) {
  make_table();
  (void)source();
  sql("ALTER TABLE $t RENAME key TO other");
  EXPECT_THAT(errors(), HasSubstr("has no column 'key'"));
  sql("DROP TABLE $t");
  EXPECT_THAT(errors(), HasSubstr("has no table"));
}

TEST_F(PostgresExamineTest, SaysWhomCommitsWaitFor) {
  make_table();
  follow_.is_synchronous = true;
  options_ = {.address = server_->connection_string(), .application_name = "gate_a"};
  EXPECT_THAT(errors(), HasSubstr("no commit waits for 'gate_a'"));
  EXPECT_THAT(errors(), HasSubstr("ANY 1 (\"gate_a\")"));
  set("synchronous_standby_names = 'ANY 1 (gate_a)'");
  EXPECT_EQ("", errors());
  EXPECT_THAT(warnings(), HasSubstr("commits hang while 'gate_a' is away"));
  set("synchronous_standby_names = 'ANY 1 (gate_a, gate_b)'");
  EXPECT_THAT(warnings(), HasSubstr("a commit waits for 1 of 2 standbys"));
  set("synchronous_standby_names = 'gate_a'");
  set("synchronous_commit = local");
  EXPECT_THAT(errors(), HasSubstr("so no commit waits"));
  source_.reset();
  follow_.is_synchronous = false;
  EXPECT_THAT(warnings(), HasSubstr("not meant to be waited for"));
}

TEST_F(PostgresExamineTest, SaysThatTheServerIsAway) {
  make_table();
  auto gone = required(servers::PostgresServer::start({.logical_replication = true}));
  gone.query(with_table("CREATE TABLE $t (key int PRIMARY KEY)"));
  options_.address = gone.connection_string();
  (void)source();
  gone.kill();
  EXPECT_THAT(errors(), HasSubstr("check the address"));
}

TEST_F(PostgresExamineTest, RefusesALogThatHoldsNoRowsAndAStandby) {
  auto primary = required(
      servers::PostgresServer::start({.settings = {"max_wal_senders = 4", "wal_level = replica"}}));
  primary.query(with_table("CREATE TABLE $t (key int PRIMARY KEY)"));
  options_.address = primary.connection_string();
  EXPECT_THAT(errors(), HasSubstr("set wal_level = logical"));
  const auto followed = source().follow(std::nullopt);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::invalid_argument, followed.error().code);
  EXPECT_THAT(followed.error().message(), HasSubstr("set wal_level = logical"));

  auto standby = required(servers::PostgresServer::start_standby(primary, "standby"));
  source_.reset();
  options_.address = standby.connection_string();
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("standby"));
  options_.address += " target_session_attrs=any";
  EXPECT_THAT(errors(), HasSubstr("give the address of the primary"));
  const auto followed_there = source().follow(std::nullopt);
  ASSERT_FALSE(followed_there);
  EXPECT_EQ(Errc::invalid_argument, followed_there.error().code);
  source_.reset();
}

}  // namespace
}  // namespace guestlist::test
