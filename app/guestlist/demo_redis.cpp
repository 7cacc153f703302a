// The demo with servers: a private Redis and a private PostgreSQL, three services that share one
// filter, and Redis killed and started again half way. Nothing on the machine but free ports and a
// folder is used.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "demo/demo_run.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/redis_server.hpp"

namespace {

using guestlist::demo::DemoEvents;
using guestlist::demo::DemoOptions;
using guestlist::servers::PostgresServer;
using guestlist::servers::RedisServer;

int failed(const guestlist::Error& error) {
  fmt::print(stderr, "demo-redis: {}\n", error.message());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  DemoOptions options;
  options.instances = 3;
  options.connections = 9;
  options.requests = 100'000;
  options.picture = "guestlist-demo-redis.svg";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--once") == 0) {
      options.once = true;
    } else if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(argv[i], "--requests") == 0 && i + 1 < argc) {
      options.requests = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--svg") == 0 && i + 1 < argc) {
      options.picture = argv[++i];
    } else {
      fmt::print(stderr, "demo-redis: there are --once, --json, --requests N and --svg FILE\n");
      return 2;
    }
  }
  if (options.requests < 100) {
    fmt::print(stderr, "demo-redis: --requests: give at least 100\n");
    return 2;
  }
  if (!options.once) guestlist::demo::block_ending_signals();
  auto redis = RedisServer::start();
  if (!redis) return failed(redis.error());
  auto postgres = PostgresServer::start();
  if (!postgres) return failed(postgres.error());
  options.redis = "redis://" + redis->address();
  options.postgres = postgres->connection_string();

  DemoEvents events;
  events.half_way_name = "Redis is killed with all it holds, and started again a second later";
  events.half_way = [&redis] {
    redis->kill();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (const auto started = redis->restart(guestlist::servers::RedisData::empty); !started) {
      fmt::print(stderr, "demo-redis: {}\n", started.error().message());
    }
  };
  const auto report = guestlist::demo::run_demo(options, events);
  if (!report) return failed(report.error());
  if (report->holds()) return 0;
  fmt::print(stderr, "demo-redis: the demo's promise was broken: see the table\n");
  return 1;
}
