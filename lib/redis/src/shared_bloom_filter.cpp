#include "guestlist/redis/shared_bloom_filter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "guestlist/filter/block_sizing.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"

#include "shared_add.hpp"
#include "shared_check.hpp"

namespace guestlist {

using redis::ShardViews;
using redis::SharedAdd;
using redis::SharedCheck;

class SharedBloomFilter::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::shared_ptr<RedisClient> client, std::string name, const Options& options)
      : options_(options),
        views_(std::make_shared<ShardViews>(std::move(client), std::move(name))) {}

  const ShardViews& views() const noexcept { return *views_; }
  TimePoint now() const noexcept { return clock_.now(); }

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) {
    retry_failed_adds(deadline);
    auto doubtful = doubtful_among(keys);
    std::make_shared<SharedCheck>(
        views_, keys, deadline,
        [done = std::move(done), doubtful = std::move(doubtful)](std::vector<Verdict> verdicts) {
          for (const auto index : doubtful) {
            if (verdicts[index].is_absent()) {
              verdicts[index] = Verdict::unknown(Reason::incomplete);
            }
          }
          done(verdicts);
        })
        ->start();
  }

  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<std::uint64_t> done) {
    retry_failed_adds(deadline);
    start_add(std::vector<std::string>(keys.begin(), keys.end()), deadline, std::move(done));
  }

 private:
  void start_add(std::vector<std::string> keys, Deadline deadline, Completion<std::uint64_t> done) {
    const std::vector<std::string_view> spelt(keys.begin(), keys.end());
    // A generation that the failure concerns exists only where there is a filter.
    std::make_shared<SharedAdd>(views_, spelt, options_.log_entries, deadline,
                                [self = shared_from_this(), kept = std::move(keys),
                                 done = std::move(done)](Result<std::uint64_t> changed) {
                                  if (changed) {
                                    self->succeeded(kept);
                                  } else if (changed.error().code != Errc::not_found) {
                                    self->failed(kept);
                                  }
                                  done(std::move(changed));
                                })
        ->start();
  }

  std::vector<std::size_t> doubtful_among(std::span<const std::string_view> keys) const {
    std::vector<std::size_t> out;
    const std::lock_guard lock(mutex_);
    if (failed_adds_.empty() && !failed_too_many_) {
      return out;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (failed_too_many_ || failed_adds_.find(keys[i]) != failed_adds_.end()) {
        out.push_back(i);
      }
    }
    return out;
  }

  void failed(const std::vector<std::string>& keys) {
    const std::lock_guard lock(mutex_);
    for (const auto& key : keys) {
      if (failed_adds_.size() < options_.max_failed_adds) {
        failed_adds_.insert(key);
      } else if (failed_adds_.find(key) == failed_adds_.end()) {
        failed_too_many_ = true;
      }
    }
  }

  void succeeded(const std::vector<std::string>& keys) {
    const std::lock_guard lock(mutex_);
    for (const auto& key : keys) {
      failed_adds_.erase(key);
    }
  }

  /// One attempt at a time, beside the call that brought us here.
  void retry_failed_adds(Deadline deadline) {
    std::vector<std::string> keys;
    {
      const std::lock_guard lock(mutex_);
      const auto now = clock_.now();
      if (failed_adds_.empty() || now < next_retry_) {
        return;
      }
      next_retry_ = now + retry_interval;
      for (const auto& key : failed_adds_) {
        keys.push_back(key);
        if (keys.size() == retry_keys) {
          break;
        }
      }
    }
    start_add(std::move(keys), deadline, [](const Result<std::uint64_t>&) {});
  }

  static constexpr Duration retry_interval = std::chrono::milliseconds(100);
  static constexpr std::size_t retry_keys = 4096;

  const Options options_;
  const std::shared_ptr<ShardViews> views_;
  const SteadyClock clock_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> failed_adds_;
  bool failed_too_many_ = false;
  TimePoint next_retry_{};
};

Result<std::shared_ptr<SharedBloomFilter>> SharedBloomFilter::make(
    std::shared_ptr<RedisClient> client, std::string name, const Options& options) {
  if (auto valid = check_shared_filter_name(name); !valid) {
    return fail(std::move(valid).error());
  }
  return std::shared_ptr<SharedBloomFilter>(
      new SharedBloomFilter(std::make_shared<Core>(std::move(client), std::move(name), options)));
}

SharedBloomFilter::SharedBloomFilter(std::shared_ptr<Core> core) : core_(std::move(core)) {}
SharedBloomFilter::~SharedBloomFilter() = default;

const std::string& SharedBloomFilter::name() const noexcept {
  return core_->views().filter();
}

void SharedBloomFilter::check(std::span<const std::string_view> keys, Deadline deadline,
                              Verdicts done) {
  core_->check(keys, deadline, std::move(done));
}

void SharedBloomFilter::add_counted(std::span<const std::string_view> keys, Deadline deadline,
                                    Completion<std::uint64_t> done) {
  core_->add(keys, deadline, std::move(done));
}

Result<SharedFilterState> SharedBloomFilter::state(std::uint32_t shard, Deadline deadline) {
  const ShardKeys keys(name(), shard);
  const auto& client = core_->views().client();
  auto state =
      SharedFilterState::parse(client->call(keys.slot(), {"HGETALL", keys.state()}, deadline));
  if (!state) {
    return fail(std::move(state).error());
  }
  if (!*state) {
    return fail(Errc::not_found, "there is no filter '" + name() + "' at " + client->url().text() +
                                     "; create or load it first");
  }
  return std::move(**state);
}

Result<KeyType> SharedBloomFilter::open(Deadline deadline) {
  const auto first = state(0, deadline);
  if (!first) {
    return fail(first.error());
  }
  return first->key_type;
}

Result<bool> SharedBloomFilter::create(std::uint64_t items, double fpr, Deadline deadline) {
  SharedBuildOptions options;
  options.items = items;
  options.fpr = fpr;
  options.longest_write = Duration::zero();
  options.patience = deadline.at - core_->now();
  return create_shared_filter(core_->views().client(), name(), options);
}

Result<std::uint64_t> SharedBloomFilter::drop(Deadline deadline) {
  return drop_shared_filter(*core_->views().client(), name(), deadline.at - core_->now());
}

Result<RemoteFilterFacts> SharedBloomFilter::inspect(Deadline deadline) {
  const auto first = state(0, deadline);
  if (!first) {
    return fail(first.error());
  }
  RemoteFilterFacts facts;
  facts.structure = "bloom";
  facts.generation = first->generation;
  facts.distrust = first->generation == 0 ? "no generation is complete yet" : "";
  std::uint64_t set = 0;
  double estimated = 0;
  double fpr_now = 0;
  for (std::uint32_t shard = 0; shard < first->shards; ++shard) {
    const auto here = shard == 0 ? first : state(shard, deadline);
    if (!here) {
      return fail(here.error());
    }
    const ShardKeys keys(name(), shard);
    const auto identity = ServerIdentity::parse(
        core_->views().client()->call(keys.slot(), {"INFO", "replication"}, deadline));
    if (!identity) {
      return fail(identity.error());
    }
    if (!here->incomplete.empty()) {
      facts.distrust = here->incomplete;
    } else if (here->server != identity->replication_id) {
      facts.distrust = "the server was restarted or replaced since the generation was published";
    }
    if (!here->live) {
      continue;
    }
    const auto bits = count_bits(keys, *here, deadline);
    if (!bits) {
      return fail(bits.error());
    }
    const auto& live = *here->live;
    const auto lines = static_cast<double>(live.geometry.lines);
    const auto size = live.geometry.lines * ShardGeometry::line_bytes;
    facts.capacity += live.capacity;
    facts.fpr = live.fpr;
    facts.hash = guestlist::name(live.hasher.kind());
    facts.size_bytes += size;
    facts.items = facts.items.value_or(0) + live.items;
    set += *bits;
    const auto items_here =
        -std::log1p(-static_cast<double>(*bits) / static_cast<double>(size * 8)) *
        static_cast<double>(size * 8) / probes(live.geometry.layout);
    estimated += items_here;
    fpr_now += fpr_at_load(live.geometry.layout, items_here / lines) / first->shards;
  }
  facts.bits = facts.size_bytes * 8;
  if (facts.bits > 0) {
    facts.fill = static_cast<double>(set) / static_cast<double>(facts.bits);
    facts.estimated_items = static_cast<std::uint64_t>(std::llround(estimated));
    facts.fpr_now = fpr_now;
  }
  return facts;
}

Result<std::uint64_t> SharedBloomFilter::count_bits(const ShardKeys& keys,
                                                    const SharedFilterState& state,
                                                    Deadline deadline) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::uint64_t set = 0;
  const auto& geometry = state.live->geometry;
  for (std::uint64_t segment = 0; segment < geometry.segments(); ++segment) {
    const auto segment_key = keys.segment(state.generation, segment);
    RedisPipeline pipeline;
    for (auto at = ShardGeometry::header_bytes; at < geometry.segment_bytes(segment); at += piece) {
      pipeline.add(keys.slot(), {"BITCOUNT", segment_key, fmt::format("{}", at),
                                 fmt::format("{}", at + piece - 1)});
    }
    for (const auto& reply : core_->views().client()->execute(std::move(pipeline), deadline)) {
      if (!reply.is_ok()) {
        return fail(reply.error());
      }
      set += static_cast<std::uint64_t>(reply.integer().value_or(0));
    }
  }
  return set;
}

}  // namespace guestlist
