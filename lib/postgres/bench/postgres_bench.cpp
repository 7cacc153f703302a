// A real PostgreSQL on this machine: snapshots beside a COPY whose rows nobody reads, lookups
// beside one prepared statement a key. GUESTLIST_BENCH_ROWS sets the table's size.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "guestlist/postgres/postgres_connection.hpp"
#include "guestlist/postgres/postgres_followed_source.hpp"
#include "guestlist/postgres/postgres_source.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"
#include "session.hpp"

namespace guestlist {
namespace {

using servers::required;

std::int64_t rows() {
  const char* const asked = std::getenv("GUESTLIST_BENCH_ROWS");
  return asked == nullptr ? 1'000'000 : std::atoll(asked);
}

servers::PostgresServer& server() {
  static servers::PostgresServer started = [] {
    auto made = required(servers::PostgresServer::start(
        {.logical_replication = true, .settings = {"shared_buffers = '512MB'"}}));
    for (const std::string& sql :
         {fmt::format("CREATE TABLE items AS SELECT i::bigint AS id, md5(i::text)::uuid AS uid, "
                      "'item ' || i AS name FROM generate_series(1, {}) i",
                      rows()),
          std::string("ALTER TABLE items ADD PRIMARY KEY (id)"),
          std::string("VACUUM ANALYZE items")}) {
      const auto reply = made.query(sql);
      if (reply.is_error()) required(Result<void>(fail(Errc::unavailable, reply.error)));
    }
    return made;
  }();
  return started;
}

PostgresOptions options() {
  return {.address = server().connection_string()};
}

double peak_mebibytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void bare_copy(benchmark::State& state, const std::string& column) {
  const std::string sql = fmt::format("COPY (SELECT {} FROM items) TO STDOUT", column);
  for (auto _ : state) {
    auto session = required(postgres::Session::open(options(), Deadline::never()));
    required(session.begin_copy(sql, Deadline::never()));
    while (required(session.next_copy_line(Deadline::never()))) {
    }
  }
  state.SetItemsProcessed(state.iterations() * rows());
}

void snapshot(benchmark::State& state, const std::string& column, PostgresCount count) {
  for (auto _ : state) {
    auto opened = required(PostgresSnapshot::open(
        options(), {.table = "items", .key_columns = {column}}, {.count = count}));
    std::vector<std::string> keys;
    do {
      required(opened->next(keys));
      benchmark::DoNotOptimize(keys);
    } while (!keys.empty());
  }
  state.SetItemsProcessed(state.iterations() * rows());
  state.counters["peak_MiB"] = peak_mebibytes();
}

/// `waiting` lookups are under way at any time.
void load(benchmark::State& state, std::size_t connections, std::size_t max_batch) {
  const auto waiting = static_cast<std::size_t>(state.range(0));
  auto source = required(PostgresSource::open(
      options(), {.table = "items", .key_columns = {"id"}, .value_expression = "name"},
      {.connections = connections, .max_batch = max_batch}));
  std::mt19937_64 random(1);
  for (auto _ : state) {
    constexpr std::size_t loads = 20'000;
    std::atomic<std::size_t> answered = 0;
    std::atomic<std::size_t> missing = 0;
    for (std::size_t begun = 0; begun < loads;) {
      if (begun - answered.load(std::memory_order_relaxed) >= waiting) {
        answered.wait(answered.load());
        continue;
      }
      const auto key = 1 + random() % static_cast<std::uint64_t>(rows());
      source->load(std::to_string(key), Deadline::never(), [&](const auto& loaded) {
        missing += !loaded || !*loaded;
        ++answered;
        answered.notify_one();
      });
      ++begun;
    }
    while (answered < loads) std::this_thread::yield();
    if (missing != 0) state.SkipWithError("a row was not found");
    state.SetItemsProcessed(state.items_processed() + static_cast<std::int64_t>(loads));
  }
  state.counters["keys_a_query"] =
      static_cast<double>(source->queries()) / static_cast<double>(source->round_trips());
}

void one_statement_a_key(benchmark::State& state) {
  auto session = required(postgres::Session::open(options(), Deadline::never()));
  required(session.run("PREPARE one(bigint) AS SELECT name FROM items WHERE id = $1", {},
                       Deadline::never()));
  std::mt19937_64 random(1);
  for (auto _ : state) {
    const auto key = 1 + random() % static_cast<std::uint64_t>(rows());
    benchmark::DoNotOptimize(
        required(session.run(fmt::format("EXECUTE one({})", key), {}, Deadline::never())));
  }
  state.SetItemsProcessed(state.iterations());
}

void wait_for_standby(const std::string& name) {
  auto& running = server();
  running.query(fmt::format("ALTER SYSTEM SET synchronous_standby_names = '{}'", name));
  running.query("SELECT pg_reload_conf()");
  while (running.query("SHOW synchronous_standby_names").text() != name)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// One row a commit, one after another.
void commits(benchmark::State& state) {
  auto connection = required(PostgresConnection::open(options(), Deadline::never()));
  for (auto _ : state)
    required(connection.execute("INSERT INTO commits DEFAULT VALUES", Deadline::never()));
}

void commit_unfollowed(benchmark::State& state) {
  commits(state);
}

void commit_followed(benchmark::State& state, bool is_synchronous) {
  PostgresOptions how = options();
  how.application_name = "gate";
  auto source = required(PostgresFollowedSource::open(
      how, {.table = "commits", .key_columns = {"id"}},
      {.slot = "commits", .is_synchronous = is_synchronous}, {.connections = 1}));
  auto feed = required(source->follow(std::nullopt));
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    const SteadyClock clock;
    Changes changes;
    while (!is_over) {
      required(feed->next(changes, Deadline::after(std::chrono::milliseconds(50), clock)));
      required(feed->acknowledge(changes.position));
    }
  });
  if (is_synchronous) wait_for_standby("gate");
  commits(state);
  if (is_synchronous) wait_for_standby("");
  is_over = true;
  reader.join();
  feed.reset();
}

void commit_beside_standby(benchmark::State& state) {
  auto standby = required(servers::PostgresServer::start_standby(server(), "standby"));
  wait_for_standby("standby");
  commits(state);
  wait_for_standby("");
}

void register_all() {
  using benchmark::RegisterBenchmark;
  const auto whole = [](benchmark::internal::Benchmark* made) {
    made->Unit(benchmark::kMillisecond)->UseRealTime();
  };
  whole(RegisterBenchmark("snapshot/bigint/bare_copy", bare_copy, "id"));
  whole(RegisterBenchmark("snapshot/bigint", snapshot, "id", PostgresCount::estimated));
  whole(RegisterBenchmark("snapshot/bigint/counted", snapshot, "id", PostgresCount::exact));
  whole(RegisterBenchmark("snapshot/uuid/bare_copy", bare_copy, "uid"));
  whole(RegisterBenchmark("snapshot/uuid", snapshot, "uid", PostgresCount::estimated));
  server().query("CREATE TABLE commits (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)");
  RegisterBenchmark("commit/unfollowed", commit_unfollowed)->UseRealTime();
  RegisterBenchmark("commit/async", commit_followed, false)->UseRealTime();
  RegisterBenchmark("commit/sync", commit_followed, true)->UseRealTime();
  RegisterBenchmark("commit/physical_standby", commit_beside_standby)->UseRealTime();
  RegisterBenchmark("load/statement_a_key", one_statement_a_key)->UseRealTime();
  for (const std::int64_t waiting : {1, 16, 256, 2048}) {
    RegisterBenchmark("load/4_connections/waiting", load, 4, 128)->Arg(waiting)->UseRealTime();
    RegisterBenchmark("load/1_connection/waiting", load, 1, 128)->Arg(waiting)->UseRealTime();
    RegisterBenchmark("load/4_connections/one_key_a_query/waiting", load, 4, 1)
        ->Arg(waiting)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace guestlist

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  guestlist::server();
  guestlist::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
