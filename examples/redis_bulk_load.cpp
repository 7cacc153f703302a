// Ten million ids on a list in Redis, two ways. The classic one sets a bit an id through a
// pipeline: exact, 1.19 MiB, and only good for small dense numbers. The other builds a filter of
// any keys in this process and uploads it; it answers only when it is complete, and reads and adds
// go on beside it.
//
//   redis_bulk_load [redis://host:port] [ids]      without a URL it starts a private redis-server

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/redis/key_slot.hpp"
#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"
#include "guestlist/servers/redis_server.hpp"

using namespace guestlist;
using namespace std::chrono_literals;

namespace {

Deadline soon() {
  return Deadline::after(30s, SteadyClock());
}

Result<void> set_bits(RedisClient& client, std::uint64_t ids) {
  constexpr std::uint64_t pipelined = 10'000;
  const std::string key = "ids";
  for (std::uint64_t id = 0; id < ids;) {
    RedisPipeline pipeline;
    for (std::uint64_t i = 0; i < pipelined && id < ids; ++i, ++id) {
      pipeline.add(key_slot(key), {"SETBIT", key, std::to_string(id), "1"});
    }
    for (const auto& reply : client.execute(std::move(pipeline), soon())) {
      if (!reply.is_ok()) return fail(reply.error());
    }
  }
  return {};
}

Result<void> load_filter(const std::shared_ptr<RedisClient>& client, std::uint64_t ids) {
  SharedBuildOptions options;
  options.items = ids;
  options.fpr = 0.01;
  options.longest_write = 0s;  // nobody writes to this list yet
  auto builder = SharedFilterBuilder::begin(client, "ids", options);
  if (!builder) return fail(std::move(builder).error());
  std::vector<std::string> keys;
  for (std::uint64_t id = 0; id < ids; ++id) {
    keys.push_back(std::to_string(id));
    if (keys.size() == 100'000 || id + 1 == ids) {
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      if (auto inserted = builder->insert(views); !inserted) return inserted;
      keys.clear();
    }
  }
  const auto report = builder->publish();
  return report ? Result<void>() : Result<void>(fail(report.error()));
}

template <class Work>
bool timed(const char* what, std::uint64_t ids, Work work) {
  const auto began = std::chrono::steady_clock::now();
  const Result<void> done = work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (!done) {
    fmt::print(stderr, "{}: {}\n", what, done.error().message());
    return false;
  }
  fmt::print("{:<28} {:>8.2f} s {:>12.0f} ids/s\n", what, took.count(),
             static_cast<double>(ids) / took.count());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<servers::RedisServer> own;
  std::string url = argc > 1 ? argv[1] : "";
  if (url.empty() || url == "-") {
    auto started = servers::RedisServer::start();
    if (!started) {
      fmt::print(stderr, "{}\n", started.error().message());
      return 1;
    }
    own.emplace(std::move(*started));
    url = "redis://" + own->address();
  }
  const std::uint64_t ids = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000'000;
  const auto parsed = RedisUrl::parse(url);
  if (!parsed) {
    fmt::print(stderr, "{}\n", parsed.error().message());
    return 1;
  }
  const auto client = RedisClient::make(*parsed);
  if (!client) {
    fmt::print(stderr, "{}\n", client.error().message());
    return 1;
  }
  const bool done =
      timed("SETBIT through a pipeline", ids, [&] { return set_bits(**client, ids); }) &&
      timed("filter built and uploaded", ids, [&] { return load_filter(*client, ids); });
  return done ? 0 : 1;
}
