#pragma once

// What the tests of shared filters have in common: a client to a server, a filter that holds some
// keys, and calls that wait.

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/shared_bloom_filter.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist {

inline Deadline soon(Duration span = std::chrono::seconds(5)) {
  return Deadline::after(span, SteadyClock());
}

inline std::shared_ptr<RedisClient> connect_to(const std::string& url) {
  return servers::required(RedisClient::make(servers::required(RedisUrl::parse(url))));
}

inline std::vector<std::string> numbered_keys(std::string_view prefix, int count, int first = 0) {
  std::vector<std::string> keys;
  for (int i = first; i < first + count; ++i) {
    keys.push_back(fmt::format("{}{}", prefix, i));
  }
  return keys;
}

inline std::vector<std::string_view> views_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

inline std::vector<Verdict> check(Membership& filter, const std::vector<std::string>& keys,
                                  Deadline deadline = soon()) {
  const auto views = views_of(keys);
  auto verdicts = wait_for<std::vector<Verdict>>([&](const auto& done) {
    filter.check(views, deadline, [done](std::span<const Verdict> answers) {
      done(std::vector<Verdict>(answers.begin(), answers.end()));
    });
  });
  return *std::move(verdicts);
}

inline Verdict check(Membership& filter, const std::string& key, Deadline deadline = soon()) {
  return check(filter, std::vector{key}, deadline).front();
}

inline Result<void> add(Membership& filter, const std::vector<std::string>& keys,
                        Deadline deadline = soon()) {
  const auto views = views_of(keys);
  return wait_for<void>([&](const auto& done) { filter.add(views, deadline, done); });
}

inline std::size_t count(const std::vector<Verdict>& verdicts, Verdict wanted) {
  return static_cast<std::size_t>(std::count(verdicts.begin(), verdicts.end(), wanted));
}

struct BuildChoice {
  std::uint64_t items = 10'000;
  double fpr = 0.01;
  std::uint32_t shards = 1;
  std::uint64_t lines_per_segment = ShardGeometry::default_lines_per_segment;
  Duration longest_write = std::chrono::milliseconds(200);
  Duration lease = std::chrono::seconds(2);
  Duration wait_for_builder = Duration::zero();
};

inline SharedBuildOptions build_options(const BuildChoice& choice) {
  SharedBuildOptions options;
  options.items = choice.items;
  options.fpr = choice.fpr;
  options.shards = choice.shards;
  options.lines_per_segment = choice.lines_per_segment;
  options.longest_write = choice.longest_write;
  options.lease = choice.lease;
  options.wait_for_builder = choice.wait_for_builder;
  options.call_timeout = std::chrono::seconds(2);
  options.patience = std::chrono::seconds(5);
  return options;
}

inline Result<SharedBuildReport> build_filter(const std::shared_ptr<RedisClient>& client,
                                              const std::string& name,
                                              const std::vector<std::string>& keys,
                                              const BuildChoice& choice = {}) {
  auto builder = SharedFilterBuilder::begin(client, name, build_options(choice));
  if (!builder) {
    return fail(std::move(builder).error());
  }
  if (auto inserted = builder->insert(views_of(keys)); !inserted) {
    return fail(std::move(inserted).error());
  }
  return builder->publish("at 7");
}

}  // namespace guestlist
