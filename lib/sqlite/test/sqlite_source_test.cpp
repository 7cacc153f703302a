#include "guestlist/sqlite/sqlite_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace guestlist {
namespace {

using namespace std::chrono_literals;

class SqliteSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder =
        (std::filesystem::temp_directory_path() / "guestlist-sqlite-XXXXXX").string();
    ASSERT_NE(nullptr, ::mkdtemp(folder.data()));
    folder_ = folder;
    execute(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, data BLOB, "
        "fold TEXT COLLATE NOCASE)");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "db").string(); }
  void execute(const std::string& sql) {
    auto database = Database::open(path(), Database::Access::read_write);
    ASSERT_TRUE(database);
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message();
  }
  SqliteTable table(const std::string& column, KeyType type) const {
    return {path(), "t", column, type, "'value of ' || id"};
  }
  static Result<std::optional<std::string>> load(Source& source, std::string_view key,
                                                 Duration time = 5s) {
    const SteadyClock clock;
    return wait_for<std::optional<std::string>>([&](Completion<std::optional<std::string>> done) {
      source.load(key, Deadline::after(time, clock), std::move(done));
    });
  }
  static std::vector<std::string> all_keys(Source& source) {
    auto snapshot = source.snapshot();
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    std::vector<std::string> all;
    std::vector<std::string> keys;
    while ((*snapshot)->next(keys) && !keys.empty())
      all.insert(all.end(), keys.begin(), keys.end());
    return all;
  }

  std::filesystem::path folder_;
};

TEST_F(SqliteSourceTest, LoadsRowsByTheirKeyAndNothingWhereThereIsNone) {
  execute("INSERT INTO t (id, name) VALUES (7, 'seven'), (8, '007')");
  const auto by_id = SqliteSource::open(table("id", KeyType::integer));
  ASSERT_TRUE(by_id) << by_id.error().message();
  EXPECT_EQ("value of 7", **load(**by_id, "7"));
  EXPECT_FALSE(*load(**by_id, "9"));
  const auto by_name = SqliteSource::open(table("name", KeyType::text));
  EXPECT_EQ("value of 8", **load(**by_name, "007"));
  EXPECT_FALSE(*load(**by_name, "7"));
  EXPECT_EQ(2u, (*by_name)->queries());
}

TEST_F(SqliteSourceTest, SeesWhatWasCommittedSinceTheLastLookup) {
  const auto source = SqliteSource::open(table("name", KeyType::text));
  EXPECT_FALSE(*load(**source, "a"));
  execute("INSERT INTO t (id, name) VALUES (1, 'a')");
  EXPECT_TRUE(*load(**source, "a"));
}

TEST_F(SqliteSourceTest, GivesEveryKeyOfItsSnapshotAndOnlyThose) {
  execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO "
      "t (id, name) SELECT i, 'k' || i FROM n");
  const auto source = SqliteSource::open(table("name", KeyType::text));
  auto snapshot = (*source)->snapshot();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(10'000u, (*snapshot)->count());
  execute("DELETE FROM t WHERE id <= 5000; INSERT INTO t (id, name) VALUES (20000, 'late')");
  std::vector<std::string> keys;
  std::size_t count = 0;
  while ((*snapshot)->next(keys) && !keys.empty()) {
    count += keys.size();
    EXPECT_EQ(keys.end(), std::find(keys.begin(), keys.end(), "late"));
  }
  EXPECT_EQ(10'000u, count);
}

TEST_F(SqliteSourceTest, GivesIntegersInTheirCanonicalForm) {
  execute("INSERT INTO t (id) VALUES (7), (-3), (0)");
  const auto source = SqliteSource::open(table("id", KeyType::integer));
  auto keys = all_keys(**source);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ((std::vector<std::string>{"-3", "0", "7"}), keys);
  EXPECT_EQ("value of -3", **load(**source, "-3"));
}

TEST_F(SqliteSourceTest, KeepsBytesExact) {
  execute("INSERT INTO t (id, data) VALUES (1, x'00ff0a'), (2, x'')");
  const auto source = SqliteSource::open(table("data", KeyType::bytes));
  EXPECT_EQ("value of 1", **load(**source, std::string_view("\0\xFF\n", 3)));
  EXPECT_EQ("value of 2", **load(**source, ""));
  EXPECT_EQ((std::vector<std::string>{std::string("\0\xFF\n", 3), ""}), all_keys(**source));
}

TEST_F(SqliteSourceTest, RefusesColumnsWhoseEqualityIsNotThatOfTheKeys) {
  EXPECT_EQ(Errc::invalid_argument,
            SqliteSource::open(table("name", KeyType::integer)).error().code);
  EXPECT_EQ(Errc::invalid_argument, SqliteSource::open(table("id", KeyType::text)).error().code);
  EXPECT_EQ(Errc::invalid_argument, SqliteSource::open(table("name", KeyType::uuid)).error().code);
  const auto folded = SqliteSource::open(table("fold", KeyType::text));
  ASSERT_FALSE(folded);
  EXPECT_NE(std::string::npos, folded.error().message().find("NOCASE"));
}

TEST_F(SqliteSourceTest, SaysWhatIsMissing) {
  EXPECT_EQ(Errc::not_found, SqliteSource::open(table("nope", KeyType::text)).error().code);
  SqliteTable elsewhere = table("name", KeyType::text);
  elsewhere.path = (folder_ / "no-such-file").string();
  EXPECT_EQ(Errc::unavailable, SqliteSource::open(elsewhere).error().code);
  std::ofstream(folder_ / "text") << std::string(5000, 'x');
  elsewhere.path = (folder_ / "text").string();
  EXPECT_EQ(Errc::foreign_format, SqliteSource::open(elsewhere).error().code);
}

TEST_F(SqliteSourceTest, GivesUpAtTheDeadlineWhereTheDatabaseIsLocked) {
  execute("PRAGMA journal_mode = DELETE");
  const auto source = SqliteSource::open(table("name", KeyType::text));
  ASSERT_TRUE(source);
  auto writer = Database::open(path(), Database::Access::read_write);
  ASSERT_TRUE(writer->execute("BEGIN EXCLUSIVE"));
  const auto blocked = load(**source, "a", 100ms);
  ASSERT_FALSE(blocked);
  EXPECT_EQ(Errc::deadline_exceeded, blocked.error().code);
  ASSERT_TRUE(writer->execute("COMMIT"));
  EXPECT_TRUE(load(**source, "a"));
}

TEST_F(SqliteSourceTest, RefusesLoadsBeyondItsQueueAndAnswersAllOthers) {
  const auto source =
      SqliteSource::open(table("name", KeyType::text), {.workers = 1, .max_waiting_loads = 2});
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  const SteadyClock clock;
  for (int i = 0; i < 1000; ++i) {
    (*source)->load("a", Deadline::after(5s, clock),
                    [&](const Result<std::optional<std::string>>& loaded) {
                      ++answered;
                      refused += !loaded && loaded.error().code == Errc::overloaded;
                    });
  }
  while (answered < 1000) std::this_thread::sleep_for(1ms);
  EXPECT_GT(refused, 0);
}

TEST(QuotedIdentifier, CannotBeLeft) {
  EXPECT_EQ("\"a\"\"; DROP TABLE t\"", quoted_identifier("a\"; DROP TABLE t"));
}

}  // namespace
}  // namespace guestlist
