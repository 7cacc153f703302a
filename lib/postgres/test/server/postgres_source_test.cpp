#include "guestlist/postgres/postgres_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "guestlist/servers/tcp_gate.hpp"
#include "postgres_suite.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using servers::required;
using testing::HasSubstr;
using testing::Not;

using Loaded = Result<std::optional<std::string>>;

class PostgresSourceTest : public test::PostgresSuite<PostgresSourceTest> {
 protected:
  static std::unique_ptr<PostgresSource> open(const PostgresTable& table,
                                              const PostgresSourceOptions& how = {}) {
    return required(PostgresSource::open(server_options(), table, how));
  }
  static Loaded load(Source& source, std::string_view key, Duration time = 20s) {
    return wait_for<std::optional<std::string>>([&](Completion<std::optional<std::string>> done) {
      source.load(key, soon(time), std::move(done));
    });
  }
  static std::vector<std::string> all_keys(Source& source) {
    auto snapshot = required(source.snapshot());
    std::vector<std::string> all;
    std::vector<std::string> keys;
    do {
      required(snapshot->next(keys));
      all.insert(all.end(), keys.begin(), keys.end());
    } while (!keys.empty());
    std::sort(all.begin(), all.end());
    return all;
  }
  /// Runs a query until it gives `wanted`.
  static void wait_until(const std::string& query, const std::string& wanted) {
    const Deadline limit = soon();
    while (server_->query(query).text() != wanted) {
      ASSERT_FALSE(limit.is_past(SteadyClock().now())) << query;
      std::this_thread::sleep_for(5ms);
    }
  }
};

struct TypeCase {
  std::string type;
  /// As SQL, each in some spelling.
  std::vector<std::string> rows;
  std::vector<std::string> canonical;
  /// Of a key that is canonical and not there.
  std::string absent;
};

// Snapshot and lookup must agree on the form, or a key that exists would be called absent.
TEST_F(PostgresSourceTest, EveryTypeHasOneCanonicalFormInSnapshotAndLookup) {
  execute("CREATE DOMAIN code AS varchar(10); CREATE DOMAIN short_code AS code");
  const std::vector<TypeCase> cases = {
      {"smallint", {"7", "-3", "0"}, {"-3", "0", "7"}, "99999"},
      {"integer", {"7", "-2147483648"}, {"-2147483648", "7"}, "9223372036854775807"},
      {"bigint",
       {"9223372036854775807"},
       {"9223372036854775807"},
       "123456789012345678901234567890"},
      {"numeric", {"1.50", "1e3", "'NaN'", "0.0"}, {"0", "1.5", "1000", "NaN"}, "1e999999"},
      {"numeric(12,4)", {"7", "-0.5"}, {"-0.5", "7"}, "7.00001"},
      {"uuid",
       {"'{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}'"},
       {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
       "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"},
      {"text", {"'a'", "'A '", "''", "E'\\t\\\\N'"}, {"", "\t\\N", "A ", "a"}, "A"},
      {"varchar(5)", {"'a'", "'ä'"}, {"a", "ä"}, "longer than five"},
      {"char(5)", {"'ab'", "' c'", "''"}, {"", " c", "ab"}, "longer than five"},
      {"bytea",
       {"'\\x00ff0a'", "''", "'\\x5c78'"},
       {"", std::string("\0\xFF\n", 3), "\\x"},
       "\xFE"},
      {"short_code", {"'x'"}, {"x"}, "y"},
      {"text COLLATE \"en-x-icu\"", {"'o'", "'ö'"}, {"o", "ö"}, "O"},
  };
  for (const TypeCase& example : cases) {
    SCOPED_TRACE(example.type);
    execute("DROP TABLE IF EXISTS typed");
    execute(fmt::format("CREATE TABLE typed (id {} PRIMARY KEY)", example.type));
    for (const std::string& row : example.rows)
      execute(fmt::format("INSERT INTO typed VALUES ({})", row));
    const auto source = open({.table = "typed", .key_columns = {"id"}, .value_expression = "'v'"});
    EXPECT_EQ(example.canonical, all_keys(*source));
    for (const std::string& key : example.canonical) EXPECT_EQ("v", load(*source, key).value());
    EXPECT_EQ(std::nullopt, load(*source, example.absent).value());
    EXPECT_EQ(example.canonical.size() + 1, source->queries());
  }
}

TEST_F(PostgresSourceTest, RefusesByNameWhatItCannotCompareAsPostgresDoes) {
  execute(
      "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
      "CREATE TABLE odd (stamp timestamptz, folded text COLLATE folded, number float8);"
      "CREATE MATERIALIZED VIEW frozen AS SELECT 1 AS id");
  const auto why = [](const PostgresTable& table) {
    const auto refused = PostgresSource::open(server_options(), table);
    EXPECT_EQ(Errc::invalid_argument, refused.error().code);
    return refused.error().message();
  };
  EXPECT_THAT(why({.table = "odd", .key_columns = {"stamp"}}), HasSubstr("timestamptz"));
  EXPECT_THAT(why({.table = "odd", .key_columns = {"folded"}}), HasSubstr("folded"));
  EXPECT_THAT(why({.table = "odd", .key_columns = {"number"}}), HasSubstr("float8"));
  EXPECT_THAT(why({.table = "frozen", .key_columns = {"id"}}), HasSubstr("materialized"));
}

TEST_F(PostgresSourceTest, SaysInOneLineWhatIsMissing) {
  execute("CREATE TABLE there (id int)");
  const auto why = [](const PostgresTable& table, Errc reason) {
    const auto refused = PostgresSource::open(server_options(), table);
    EXPECT_EQ(reason, refused.error().code);
    EXPECT_THAT(refused.error().message(), Not(HasSubstr("\n")));
    return refused.error().message();
  };
  EXPECT_THAT(why({.table = "nowhere", .key_columns = {"id"}}, Errc::not_found),
              HasSubstr("no table \"nowhere\""));
  EXPECT_THAT(why({.table = "there", .key_columns = {"ID"}}, Errc::not_found),
              HasSubstr("no column 'ID'"));
  EXPECT_THAT(why({.schema = "none", .table = "there", .key_columns = {"id"}}, Errc::not_found),
              HasSubstr("\"none\".\"there\""));
  EXPECT_THAT(why({.table = "there", .key_columns = {"id"}, .value_expression = "no_such + 1"},
                  Errc::not_found),
              HasSubstr("no_such"));
  why({.table = "there", .key_columns = {}}, Errc::invalid_argument);
  PostgresOptions wrong = server_options();
  wrong.address += " password=wrong";
  EXPECT_THAT(
      PostgresSource::open(wrong, {.table = "there", .key_columns = {"id"}}).error().message(),
      HasSubstr("password authentication failed"));
}

TEST_F(PostgresSourceTest, ANameIsNeverMoreThanAName) {
  execute(
      "CREATE SCHEMA \"odd \"\" schema\"; CREATE TABLE \"odd \"\" schema\".\"t; --\" (\"i\"\"d\" "
      "int "
      "PRIMARY KEY, guestlist_asked int); INSERT INTO \"odd \"\" schema\".\"t; --\" VALUES (7, 8)");
  const auto source = open({.schema = "odd \" schema", .table = "t; --", .key_columns = {"i\"d"}});
  EXPECT_EQ("{\"i\\\"d\":7,\"guestlist_asked\":8}", load(*source, "7").value());
  EXPECT_EQ(std::vector<std::string>{"7"}, all_keys(*source));
}

TEST_F(PostgresSourceTest, JoinsSeveralColumnsToOneKey) {
  execute(
      "CREATE TABLE pairs (country text, number int, PRIMARY KEY (number, country)); INSERT INTO "
      "pairs VALUES ('a,b', 1), ('a', 1), ('a\\', 2)");
  const auto source = open({.table = "pairs",
                            .key_columns = {"country", "number"},
                            .value_expression = "country || number"});
  EXPECT_EQ((std::vector<std::string>{"a,1", "a\\,b,1", "a\\\\,2"}), all_keys(*source));
  EXPECT_EQ("a,b1", load(*source, "a\\,b,1").value());
  EXPECT_EQ("a\\2", load(*source, "a\\\\,2").value());
  EXPECT_EQ(std::nullopt, load(*source, "a,2").value());
  EXPECT_EQ(std::nullopt, load(*source, "a,99999999999999999999").value());
  EXPECT_EQ("a\\,b,1", source->canonical_key(std::vector<std::string_view>{"a,b", " +01"}));
  EXPECT_FALSE(source->canonical_key(std::vector<std::string_view>{"a", "x"}));
}

TEST_F(PostgresSourceTest, SkipsRowsWithoutAKeyAndKnowsNullFromNothing) {
  execute("CREATE TABLE holes (id int, v text); INSERT INTO holes VALUES (NULL, 'x'), (1, NULL)");
  const auto source = open({.table = "holes", .key_columns = {"id"}, .value_expression = "v"});
  EXPECT_EQ(std::vector<std::string>{"1"}, all_keys(*source));
  EXPECT_EQ(1u, required(source->snapshot())->count());
  EXPECT_EQ("", load(*source, "1").value());
  EXPECT_EQ(std::nullopt, load(*source, "2").value());
}

TEST_F(PostgresSourceTest, AKeyThatIsNoSpellingIsAnErrorAndNotAnAbsentRow) {
  execute("CREATE TABLE numbers (id int PRIMARY KEY); INSERT INTO numbers VALUES (1)");
  const auto source = open({.table = "numbers", .key_columns = {"id"}});
  EXPECT_EQ(Errc::invalid_argument, load(*source, "0x1").error().code);
  EXPECT_EQ(Errc::invalid_argument, load(*source, "1;").error().code);
  EXPECT_TRUE(load(*source, "1").value());
}

// Sent as a C string, "a\0b" would come back as the row "a".
TEST_F(PostgresSourceTest, TextThatPostgresCannotHoldIsAbsentAndNotCutShort) {
  execute("CREATE TABLE names (id text PRIMARY KEY); INSERT INTO names VALUES ('a')");
  const auto source = open({.table = "names", .key_columns = {"id"}});
  EXPECT_EQ(std::nullopt, load(*source, std::string_view("a\0b", 3)).value());
  EXPECT_EQ(std::nullopt, load(*source, "a\xFF").value());
  EXPECT_EQ(std::nullopt, load(*source, std::string(1 << 20, 'x')).value());
  EXPECT_TRUE(load(*source, "a").value());
}

TEST_F(PostgresSourceTest, OneRowWhoseValueFailsDoesNotFailTheOthers) {
  execute(
      "CREATE TABLE ratios (id int PRIMARY KEY, d int); INSERT INTO ratios SELECT i, i % 50 FROM "
      "generate_series(1, 200) i");
  const auto source =
      open({.table = "ratios", .key_columns = {"id"}, .value_expression = "100 / d"});
  std::atomic<int> failed = 0;
  std::atomic<int> answered = 0;
  for (int id = 1; id <= 200; ++id) {
    source->load(std::to_string(id), soon(), [&, id](const Loaded& loaded) {
      EXPECT_EQ(id % 50 != 0, loaded.has_value()) << id;
      if (loaded) {
        EXPECT_EQ(std::to_string(100 / (id % 50)), *loaded);
      }
      failed += !loaded;
      ++answered;
    });
  }
  while (answered < 200) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(4, failed);
}

TEST_F(PostgresSourceTest, AsksTogetherForWhatWaitsTogether) {
  execute(
      "CREATE TABLE many (id int PRIMARY KEY); INSERT INTO many SELECT generate_series(1, 1000)");
  const auto source = open({.table = "many", .key_columns = {"id"}}, {.connections = 1});
  std::atomic<int> found = 0;
  std::atomic<int> answered = 0;
  for (int id = 1; id <= 2000; ++id) {
    source->load(std::to_string(id), soon(), [&](const Loaded& loaded) {
      found += loaded && *loaded;
      ++answered;
    });
  }
  while (answered < 2000) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(1000, found);
  EXPECT_EQ(2000u, source->queries());
  EXPECT_LT(source->round_trips(), 50u);
}

TEST_F(PostgresSourceTest, RefusesLoadsBeyondItsQueueAndAnswersAllOthers) {
  execute("CREATE TABLE slow (id int PRIMARY KEY); INSERT INTO slow VALUES (1)");
  const auto source =
      open({.table = "slow", .key_columns = {"id"}, .value_expression = "pg_sleep(0.2)"},
           {.connections = 1, .max_waiting_loads = 10, .max_batch = 1});
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 1000; ++i) {
    source->load("1", soon(), [&](const Loaded& loaded) {
      refused += !loaded && loaded.error().code == Errc::overloaded;
      ++answered;
    });
  }
  while (answered < 1000) std::this_thread::sleep_for(1ms);
  EXPECT_GE(refused, 980);
  EXPECT_LT(refused, 1000);
}

TEST_F(PostgresSourceTest, KeepsEachDeadlineOfAQueryThatTakesLonger) {
  execute("CREATE TABLE locked (id int PRIMARY KEY); INSERT INTO locked VALUES (1)");
  const auto source = open({.table = "locked", .key_columns = {"id"}}, {.connections = 1});
  ASSERT_TRUE(load(*source, "1"));
  execute("BEGIN; LOCK TABLE locked");
  const SteadyClock clock;
  const TimePoint began = clock.now();
  std::atomic<bool> patient = false;
  source->load("1", soon(), [&](const Loaded& loaded) { patient = loaded && *loaded; });
  const auto late = load(*source, "1", 100ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(Errc::deadline_exceeded, late.error().code);
  EXPECT_LT(clock.now() - began, 2s);
  execute("COMMIT");
  EXPECT_TRUE(load(*source, "1").value());
  EXPECT_TRUE(patient);
}

// However many callers give up, the server carries out one statement a connection.
TEST_F(PostgresSourceTest, PilesNothingUpOnAServerThatIsSlow) {
  execute("CREATE TABLE busy (id int PRIMARY KEY); INSERT INTO busy VALUES (1)");
  PostgresOptions options = server_options();
  options.application_name = "piles";
  const auto source = required(
      PostgresSource::open(options, {.table = "busy", .key_columns = {"id"}}, {.connections = 2}));
  ASSERT_TRUE(load(*source, "1"));
  execute("BEGIN; LOCK TABLE busy");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(Errc::deadline_exceeded, load(*source, "1", 20ms).error().code);
  EXPECT_EQ("2", server_
                     ->query("SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                             "'piles'")
                     .text());
  execute("COMMIT");
  EXPECT_TRUE(load(*source, "1").value());
}

TEST_F(PostgresSourceTest, AServerThatHangsCostsTheDeadlineAndComesBackByItself) {
  execute("CREATE TABLE hung (id int PRIMARY KEY); INSERT INTO hung VALUES (1)");
  PostgresOptions options = server_options();
  options.application_name = "hangs";
  options.statement_timeout = 200ms;
  const auto source =
      required(PostgresSource::open(options, {.table = "hung", .key_columns = {"id"}}));
  ASSERT_TRUE(load(*source, "1"));
  wait_until("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hangs'", "4");
  const auto sessions =
      server_->query("SELECT pid FROM pg_stat_activity WHERE application_name = 'hangs'");
  const auto signal_all = [&](int number) {
    for (const auto& row : sessions.rows) ::kill(std::stoi(*row.front()), number);
  };
  signal_all(SIGSTOP);
  EXPECT_EQ(Errc::deadline_exceeded, load(*source, "1", 100ms).error().code);
  // Its connections are given up after the statement's time and a second, and made anew.
  EXPECT_TRUE(load(*source, "1").value());
  signal_all(SIGCONT);
  EXPECT_TRUE(load(*source, "1").value());
}

TEST_F(PostgresSourceTest, AnswersNoRowOnlyByTheTableAsItIsNow) {
  execute("CREATE TABLE grows (id int PRIMARY KEY)");
  const auto source = open({.table = "grows", .key_columns = {"id"}, .value_expression = "'v'"});
  const std::string large = "123456789012345678901234567890";
  EXPECT_EQ(std::nullopt, load(*source, large).value());
  execute("ALTER TABLE grows ALTER id TYPE numeric; INSERT INTO grows VALUES (" + large + ")");
  EXPECT_EQ("v", load(*source, large).value());
  execute("ALTER TABLE grows ALTER id TYPE float8");
  // Each of its connections finds out by itself that the table has changed; then all say why.
  const auto end = std::chrono::steady_clock::now() + 30s;
  auto refused = load(*source, "7");
  while (!refused && refused.error().message().find("float8") == std::string::npos &&
         std::chrono::steady_clock::now() < end) {
    EXPECT_EQ(Errc::unavailable, refused.error().code);
    refused = load(*source, "7");
  }
  ASSERT_FALSE(refused);
  EXPECT_EQ(Errc::unavailable, refused.error().code);
  EXPECT_THAT(refused.error().message(), HasSubstr("float8"));
  execute("DROP TABLE grows");
  EXPECT_FALSE(load(*source, "7"));
  execute("CREATE TABLE grows (id bigint); INSERT INTO grows VALUES (7)");
  const Deadline limit = soon();
  while (!load(*source, "7")) ASSERT_FALSE(limit.is_past(SteadyClock().now()));
  EXPECT_EQ("v", load(*source, "7").value());
}

TEST_F(PostgresSourceTest, SeesWhatWasCommittedBeforeTheLoadBegan) {
  execute("CREATE TABLE fresh (id int PRIMARY KEY)");
  const auto source = open({.table = "fresh", .key_columns = {"id"}});
  PostgresConnection writer = connect();
  for (int id = 1; id <= 300; ++id) {
    EXPECT_EQ(std::nullopt, load(*source, std::to_string(id)).value());
    required(writer.execute("INSERT INTO fresh VALUES ($1)", {std::to_string(id)}, soon()));
    EXPECT_TRUE(load(*source, std::to_string(id)).value()) << id;
  }
}

TEST_F(PostgresSourceTest, NoKeyIsCalledAbsentWhileTheServerCrashesAndComesBack) {
  execute(
      "CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept SELECT generate_series(1, 1000)");
  const auto source = open({.table = "kept", .key_columns = {"id"}});
  std::atomic<bool> stop = false;
  std::atomic<int> absent = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> found = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 4; ++r) {
    readers.emplace_back([&, r] {
      for (int i = r; !stop; ++i) {
        const auto loaded = load(*source, std::to_string(i % 1000 + 1), 2s);
        failed += !loaded;
        absent += loaded && !*loaded;
        found += loaded && *loaded;
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(100ms);
    server_->kill();
    std::this_thread::sleep_for(100ms);
    required(server_->restart());
    const int before = found;
    const Deadline limit = soon();
    while (found == before) ASSERT_FALSE(limit.is_past(SteadyClock().now()));
  }
  stop = true;
  readers.clear();
  EXPECT_EQ(0, absent);
  EXPECT_GT(failed, 0);
}

TEST_F(PostgresSourceTest, WithoutAServerLoadsFailAtOnceWithTheReason) {
  execute("CREATE TABLE gone (id int PRIMARY KEY); INSERT INTO gone VALUES (1)");
  const auto source = open({.table = "gone", .key_columns = {"id"}});
  ASSERT_TRUE(load(*source, "1"));
  server_->kill();
  // The first may still find the connection that broke, and say that instead.
  const auto broken = load(*source, "1");
  ASSERT_FALSE(broken);
  EXPECT_EQ(Errc::unavailable, broken.error().code);
  const TimePoint began = SteadyClock().now();
  const auto refused = load(*source, "1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(Errc::unavailable, refused.error().code);
  EXPECT_THAT(refused.error().message(), HasSubstr("connection to server"));
  EXPECT_LT(SteadyClock().now() - began, 2s);
  required(server_->restart());
}

TEST_F(PostgresSourceTest, AnswersWhatWaitsWhenItGoes) {
  execute("CREATE TABLE ends (id int PRIMARY KEY); INSERT INTO ends VALUES (1)");
  auto source = open({.table = "ends", .key_columns = {"id"}, .value_expression = "pg_sleep(1)"},
                     {.connections = 1});
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 100; ++i) {
    source->load("1", Deadline::never(), [&](const Loaded& loaded) {
      cancelled += !loaded && loaded.error().code == Errc::cancelled;
    });
  }
  source.reset();
  EXPECT_EQ(100, cancelled);
}

TEST_F(PostgresSourceTest, RowsHiddenByAPolicyAreAnErrorAndNotAbsent) {
  execute(
      "CREATE TABLE hidden (id int PRIMARY KEY); INSERT INTO hidden VALUES (1); ALTER TABLE hidden "
      "ENABLE ROW LEVEL SECURITY; CREATE ROLE reader LOGIN PASSWORD 'right'; GRANT SELECT ON "
      "hidden "
      "TO reader");
  PostgresOptions options = server_options();
  options.address += " user=reader";
  const auto refused = PostgresSource::open(options, {.table = "hidden", .key_columns = {"id"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("row-level security"));
}

}  // namespace
}  // namespace guestlist
