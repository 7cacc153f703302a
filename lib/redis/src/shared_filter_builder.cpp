#include "guestlist/redis/shared_filter_builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "shard_build.hpp"
#include "shared_filter_scripts.hpp"

namespace guestlist {

using redis::PatientCalls;
using redis::remove_shard;
using redis::ShardBuild;

namespace {

Result<std::optional<SharedFilterState>> read_state(const PatientCalls& calls,
                                                    const std::string& filter,
                                                    std::uint32_t shard) {
  const ShardKeys keys(filter, shard);
  const auto reply = calls.call(keys.slot(), {"HGETALL", keys.state()});
  if (!reply) {
    return fail(reply.error());
  }
  return SharedFilterState::parse(*reply);
}

Error no_such_filter(const RedisClient& client, const std::string& filter) {
  return {Errc::not_found,
          fmt::format("there is no filter '{}' at {}", filter, client.url().text())};
}

}  // namespace

class SharedFilterBuilder::Build {
 public:
  Build(std::shared_ptr<RedisClient> client, const SharedBuildOptions& options,
        const ShardBuild::Founding& founding, std::vector<ShardBuild> shards)
      : client_(std::move(client)),
        options_(options),
        founding_(founding),
        shards_(std::move(shards)) {}
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  ~Build() {
    for (auto i = published_; i < shards_.size(); ++i) {
      shards_[i].abandon();
    }
  }

  KeyType key_type() const noexcept { return founding_.key_type; }

  Result<void> wait_for_writes() {
    bool must_wait = false;
    for (const auto& shard : shards_) {
      must_wait = must_wait || shard.must_wait();
    }
    const auto end = clock_.now() + options_.longest_write;
    while (must_wait && clock_.now() < end) {
      std::this_thread::sleep_for(PatientCalls::pause);
      if (auto renewed = renew_leases(); !renewed) {
        return renewed;
      }
    }
    return {};
  }

  Result<void> insert(std::span<const std::string_view> keys) {
    for (const auto key : keys) {
      shards_[shard_of(key, founding_.shard_secret, founding_.shards)].insert(key);
    }
    items_ += keys.size();
    return renew_leases();
  }

  Result<SharedBuildReport> publish(std::string_view position) {
    SharedBuildReport report;
    for (const auto& shard : shards_) {
      report.size_bytes += shard.size_bytes();
    }
    std::uint64_t bytes_done = 0;
    const auto uploaded = [&](std::uint64_t bytes) {
      bytes_done += bytes;
      if (options_.progress) {
        options_.progress(bytes_done, report.size_bytes);
      }
    };
    for (auto& shard : shards_) {
      if (auto done = shard.publish(position, items_ / shards_.size(), uploaded); !done) {
        return fail(std::move(done).error());
      }
      ++published_;
      report.replayed += shard.replayed();
    }
    report.generation = shards_.front().generation();
    return report;
  }

 private:
  Result<void> renew_leases() {
    const auto now = clock_.now();
    if (now < next_renewal_) {
      return {};
    }
    next_renewal_ = now + options_.lease / 3;
    for (const auto& shard : shards_) {
      if (auto renewed = shard.renew_lease(); !renewed) {
        return renewed;
      }
    }
    return {};
  }

  const SteadyClock clock_;
  std::shared_ptr<RedisClient> client_;
  SharedBuildOptions options_;
  ShardBuild::Founding founding_;
  std::vector<ShardBuild> shards_;
  std::size_t published_ = 0;
  std::uint64_t items_ = 0;
  TimePoint next_renewal_ = clock_.now() + options_.lease / 3;
};

Result<SharedFilterBuilder> SharedFilterBuilder::begin(std::shared_ptr<RedisClient> client,
                                                       std::string name,
                                                       const SharedBuildOptions& options) {
  if (auto valid = check_shared_filter_name(name); !valid) {
    return fail(std::move(valid).error());
  }
  const PatientCalls calls(*client, options.call_timeout, options.patience);
  const auto state = read_state(calls, name, 0);
  if (!state) {
    return fail(state.error());
  }
  if (options.shards == 0 || options.shards > SharedFilterState::max_shards) {
    return fail(Errc::invalid_argument,
                fmt::format("{} shards were asked for; a filter has 1 to {}", options.shards,
                            SharedFilterState::max_shards));
  }
  const auto founding =
      *state ? ShardBuild::Founding{(*state)->shards, (*state)->shard_secret, (*state)->key_type}
             : ShardBuild::Founding{options.shards, Secret::random(), options.key_type};
  const Secret random = Secret::random();
  const auto token = to_hex(random.bytes());
  // The first shard says how keys fall to shards. So of a filter that is there it is the first to
  // know of the builder, and of one that is not there it comes into being last.
  if (!*state) {
    if (auto claimed = ShardBuild::claim(calls, name, token, founding, options); !claimed) {
      ShardBuild::release_claim(calls, name, token);
      return fail(std::move(claimed).error());
    }
  }
  std::vector<ShardBuild> shards;
  for (std::uint32_t i = 0; i < founding.shards; ++i) {
    const auto shard = *state ? i : founding.shards - 1 - i;
    auto begun = ShardBuild::begin(calls, name, shard, token, founding, options);
    if (!begun) {
      for (const auto& earlier : shards) {
        earlier.abandon();
      }
      ShardBuild::release_claim(calls, name, token);
      return fail(std::move(begun).error());
    }
    shards.push_back(std::move(*begun));
  }
  if (!*state) {
    std::reverse(shards.begin(), shards.end());
  }
  auto build = std::make_unique<Build>(std::move(client), options, founding, std::move(shards));
  if (auto waited = build->wait_for_writes(); !waited) {
    return fail(std::move(waited).error());
  }
  return SharedFilterBuilder(std::move(build));
}

SharedFilterBuilder::SharedFilterBuilder(std::unique_ptr<Build> build) : build_(std::move(build)) {}
SharedFilterBuilder::SharedFilterBuilder(SharedFilterBuilder&&) noexcept = default;
SharedFilterBuilder& SharedFilterBuilder::operator=(SharedFilterBuilder&&) noexcept = default;
SharedFilterBuilder::~SharedFilterBuilder() = default;

KeyType SharedFilterBuilder::key_type() const noexcept {
  return build_->key_type();
}

Result<void> SharedFilterBuilder::insert(std::span<const std::string_view> keys) {
  return build_->insert(keys);
}

Result<SharedBuildReport> SharedFilterBuilder::publish(std::string_view position) {
  return build_->publish(position);
}

Result<bool> create_shared_filter(const std::shared_ptr<RedisClient>& client,
                                  const std::string& name, const SharedBuildOptions& options) {
  if (auto valid = check_shared_filter_name(name); !valid) {
    return fail(std::move(valid).error());
  }
  const PatientCalls calls(*client, options.call_timeout, options.patience);
  const auto there = read_state(calls, name, 0);
  if (!there) {
    return fail(there.error());
  }
  if (*there && (*there)->live) {
    const auto& live = *(*there)->live;
    const auto capacity = live.capacity * (*there)->shards;
    const bool same = (*there)->shards == 1 ? capacity == options.items : capacity >= options.items;
    if (same && live.fpr == options.fpr && (*there)->key_type == options.key_type &&
        live.hasher.kind() == options.hash) {
      return false;
    }
    return fail(Errc::already_exists,
                fmt::format("the filter '{}' exists already and is left alone: it was made for {} "
                            "items at {} with {} and keys of type {}; drop it, or name another",
                            name, capacity, live.fpr, guestlist::name(live.hasher.kind()),
                            guestlist::name((*there)->key_type)));
  }
  auto builder = SharedFilterBuilder::begin(client, name, options);
  if (!builder) {
    return fail(std::move(builder).error());
  }
  if (auto published = builder->publish(); !published) {
    return fail(std::move(published).error());
  }
  return true;
}

Result<std::uint64_t> drop_shared_filter(RedisClient& client, const std::string& name,
                                         Duration call_timeout) {
  const PatientCalls calls(client, call_timeout, call_timeout);
  const auto first = read_state(calls, name, 0);
  if (!first) {
    return fail(first.error());
  }
  if (!*first) {
    return fail(no_such_filter(client, name));
  }
  std::uint64_t removed = 0;
  // Shard 0 last: it knows how many there are, so a drop that was broken off can be done again.
  for (auto shard = (*first)->shards; shard-- > 0;) {
    const auto here = remove_shard(calls, name, shard);
    if (!here) {
      return fail(here.error());
    }
    removed += *here;
  }
  return removed;
}

Result<void> distrust_shared_filter(RedisClient& client, const std::string& name,
                                    std::string_view why, Duration call_timeout) {
  const PatientCalls calls(client, call_timeout, call_timeout);
  const auto first = read_state(calls, name, 0);
  if (!first) {
    return fail(first.error());
  }
  if (!*first) {
    return fail(no_such_filter(client, name));
  }
  for (std::uint32_t shard = 0; shard < (*first)->shards; ++shard) {
    const ShardKeys keys(name, shard);
    const std::string_view state[] = {keys.state()};
    const std::string_view reason[] = {why};
    const auto reply = calls.script(keys.slot(), redis::distrust_script(), state, reason);
    if (!reply) {
      return fail(reply.error());
    }
  }
  return {};
}

}  // namespace guestlist
