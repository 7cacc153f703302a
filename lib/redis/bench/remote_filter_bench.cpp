// Filters in Redis: checks and adds a second, native against Redisson's form on one server; the
// bulk load against the pipelined SETBITs of the classic experiment; what other clients feel
// meanwhile; the mirror.
//
// Names: check/FORM/KEYS_A_CALL/connections:N. Rates are keys a second of all connections together.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "guestlist/redis/guava_redis_bloom_filter.hpp"
#include "guestlist/redis/key_slot.hpp"
#include "guestlist/redis/redisson_bloom_filter.hpp"
#include "guestlist/redis/shared_bloom_filter.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"
#include "guestlist/redis/shared_filter_mirror.hpp"
#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist {
namespace {

using servers::required;
using namespace std::chrono_literals;

constexpr std::uint64_t capacity = 1'000'000;
constexpr double fpr = 0.01;

servers::RedisServer& server() {
  static servers::RedisServer* const running =
      new servers::RedisServer(required(servers::RedisServer::start()));
  return *running;
}

/// GUESTLIST_BENCH_REDIS, so that others can be measured on the same Redis; else one of our own.
std::string url() {
  if (const char* given = std::getenv("GUESTLIST_BENCH_REDIS")) return given;
  return "redis://" + server().address();
}

std::shared_ptr<RedisClient> connection() {
  return required(RedisClient::make(required(RedisUrl::parse(url()))));
}

Deadline soon() {
  return Deadline::after(60s, SteadyClock());
}

std::vector<std::string> keys(std::string_view prefix, std::size_t first, std::size_t count) {
  std::vector<std::string> out;
  for (auto i = first; i < first + count; ++i) out.push_back(fmt::format("{}:{}", prefix, i));
  return out;
}

std::vector<std::string_view> views(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

SharedBuildOptions build_options(std::uint64_t items) {
  SharedBuildOptions options;
  options.items = items;
  options.fpr = fpr;
  options.longest_write = Duration::zero();
  return options;
}

enum class Form { native, redisson };

std::shared_ptr<RemoteFilter> open(Form form) {
  if (form == Form::native) return required(SharedBloomFilter::make(connection(), "bench"));
  return required(RedissonBloomFilter::make(connection(), "bench-redisson", RedissonEncoding{}));
}

/// Filters with half of their keys in, made once.
void prepare() {
  static const bool done = [] {
    const auto client = connection();
    auto builder = required(SharedFilterBuilder::begin(client, "bench", build_options(capacity)));
    const auto present = keys("user", 0, capacity / 2);
    required(builder.insert(views(present)));
    required(builder.publish());
    const auto redisson = open(Form::redisson);
    required(redisson->create(capacity, fpr, soon()));
    for (std::size_t first = 0; first < capacity / 2; first += 10'000) {
      const auto some = keys("user", first, 10'000);
      required(wait_for<std::uint64_t>(
          [&](const auto& added) { redisson->add_counted(views(some), soon(), added); }));
    }
    return true;
  }();
  benchmark::DoNotOptimize(done);
}

std::vector<Verdict> check(Membership& filter, std::span<const std::string_view> asked) {
  return *wait_for<std::vector<Verdict>>([&](const auto& done) {
    filter.check(asked, soon(), [done](std::span<const Verdict> verdicts) {
      done(std::vector<Verdict>(verdicts.begin(), verdicts.end()));
    });
  });
}

/// A connection a thread; half of the keys exist.
void run_checks(benchmark::State& state, Form form) {
  prepare();
  const auto filter = open(form);
  const auto batch = static_cast<std::size_t>(state.range(0));
  std::vector<std::vector<std::string>> calls;
  std::mt19937_64 random(static_cast<std::uint64_t>(state.thread_index()) + 1);
  for (int i = 0; i < 64; ++i) {
    std::vector<std::string> call;
    for (std::size_t k = 0; k < batch; ++k)
      call.push_back(fmt::format("user:{}", random() % capacity));
    calls.push_back(std::move(call));
  }
  std::size_t at = 0;
  for (auto _ : state) {
    const auto verdicts = check(*filter, views(calls[at++ % calls.size()]));
    if (verdicts.front().answer == Answer::unknown) state.SkipWithError("unknown");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch));
}

void run_adds(benchmark::State& state, Form form) {
  prepare();
  const auto filter = open(form);
  const auto batch = static_cast<std::size_t>(state.range(0));
  static std::atomic<std::size_t> next{capacity};
  for (auto _ : state) {
    state.PauseTiming();
    const auto added = keys("user", next.fetch_add(batch), batch);
    state.ResumeTiming();
    required(wait_for<std::uint64_t>(
        [&](const auto& done) { filter->add_counted(views(added), soon(), done); }));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch));
}

BENCHMARK_CAPTURE(run_checks, native, Form::native)
    ->Name("check/native")
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_checks, redisson, Form::redisson)
    ->Name("check/redisson")
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_adds, native, Form::native)
    ->Name("add/native")
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime();
BENCHMARK_CAPTURE(run_adds, redisson, Form::redisson)
    ->Name("add/redisson")
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime();

/// Eight threads that share one connection.
void check_from_threads(benchmark::State& state) {
  prepare();
  static const auto filter = open(Form::native);
  const std::string key = fmt::format("user:{}", state.thread_index());
  const std::string_view asked[] = {key};
  for (auto _ : state) benchmark::DoNotOptimize(check(*filter, asked));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(check_from_threads)->Name("check/native/one_connection")->Threads(8)->UseRealTime();

void check_in_mirror(benchmark::State& state) {
  prepare();
  const auto client = connection();
  const auto filter = required(SharedBloomFilter::make(client, "bench"));
  SharedFilterMirror mirror(client, filter, {.confirm = state.range(0) != 0});
  while (!mirror.status().is_fresh) std::this_thread::sleep_for(1ms);
  const auto present = keys("user", 0, 1000);
  const auto asked = views(present);
  for (auto _ : state) {
    mirror.check(asked, soon(), [](std::span<const Verdict> verdicts) {
      benchmark::DoNotOptimize(verdicts.data());
    });
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(check_in_mirror)->Name("mirror/present/1000")->Arg(1);

/// Ten million keys into a filter that is ready when all are in.
void load_native(benchmark::State& state) {
  const auto items = static_cast<std::uint64_t>(state.range(0));
  const auto client = connection();
  for (auto _ : state) {
    auto builder = required(SharedFilterBuilder::begin(client, "loaded", build_options(items)));
    for (std::size_t first = 0; first < items; first += 100'000) {
      state.PauseTiming();
      const auto some = keys("user", first, 100'000);
      const auto some_views = views(some);
      state.ResumeTiming();
      required(builder.insert(some_views));
    }
    required(builder.publish());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  (void)drop_shared_filter(*client, "loaded");
}
BENCHMARK(load_native)
    ->Name("load/native")
    ->Arg(10'000'000)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// The classic experiment: one SETBIT a key, ten million bits (1.19 MiB), through a pipeline.
void load_setbit(benchmark::State& state) {
  constexpr std::size_t pipelined = 10'000;
  const auto client = connection();
  const auto slot = key_slot("bits");
  for (auto _ : state) {
    (void)client->call(slot, {"DEL", "bits"}, soon());
    for (std::int64_t bit = 0; bit < state.range(0);) {
      RedisPipeline pipeline;
      for (std::size_t i = 0; i < pipelined; ++i) {
        pipeline.add(slot, {"SETBIT", "bits", fmt::format("{}", bit++), "1"});
      }
      const auto replies = client->execute(std::move(pipeline), soon());
      if (!replies.back().is_ok()) state.SkipWithError(replies.back().error().message().c_str());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(load_setbit)
    ->Name("load/pipelined_setbit")
    ->Arg(10'000'000)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// What a client that only pings feels while a filter of so many MiB is loaded, swapped and
/// dropped.
void ping_beside_load(benchmark::State& state) {
  const auto items = static_cast<std::uint64_t>(state.range(0)) * 1024 * 1024 * 8 / 10;
  const auto client = connection();
  const auto pinging = connection();
  for (auto _ : state) {
    std::atomic<bool> is_over{false};
    std::vector<double> milliseconds;
    std::thread pings([&] {
      while (!is_over) {
        const auto began = SteadyClock().now();
        (void)pinging->call(0, {"PING"}, soon());
        const std::chrono::duration<double, std::milli> took = SteadyClock().now() - began;
        milliseconds.push_back(took.count());
        std::this_thread::sleep_for(200us);
      }
    });
    for (int generation = 0; generation < 2; ++generation) {
      auto builder = required(SharedFilterBuilder::begin(client, "large", build_options(items)));
      std::mt19937_64 random(1);
      for (int batch = 0; batch < 100; ++batch) {
        std::vector<std::string> some;
        for (int i = 0; i < 20'000; ++i) some.push_back(std::to_string(random()));
        required(builder.insert(views(some)));
      }
      required(builder.publish());
    }
    required(drop_shared_filter(*client, "large"));
    is_over = true;
    pings.join();
    std::sort(milliseconds.begin(), milliseconds.end());
    state.counters["p99_ms"] = milliseconds[milliseconds.size() * 99 / 100];
    state.counters["worst_ms"] = milliseconds.back();
    state.counters["pings"] = static_cast<double>(milliseconds.size());
  }
}
BENCHMARK(ping_beside_load)
    ->Name("ping_beside_load/MiB")
    ->Arg(1024)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace guestlist
