#include "demo/service_parts.hpp"

#include <optional>
#include <utility>

#include "guestlist/guard/local_membership.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "guestlist/guard/warm_up.hpp"
#include "guestlist/redis/redis_value_cache.hpp"
#include "guestlist/redis/shared_filter_keeper.hpp"

namespace guestlist::demo {
namespace {

using namespace std::chrono_literals;

class LocalParts final : public ServiceParts {
 public:
  LocalParts(double fpr, std::uint64_t cache_bytes) : fpr_(fpr), cache_(cache_bytes, clock_) {}

  Membership& membership() override { return membership_; }
  ValueCache& cache() override { return cache_; }
  bool is_shared() const override { return false; }
  std::uint64_t filter_bytes() override { return membership_.status().size_bytes; }

  Result<void> warm_up(Source& source) override {
    WarmUpOptions options;
    options.fpr = fpr_;
    const auto report = guestlist::warm_up(membership_, source, options);
    return report ? Result<void>() : Result<void>(fail(report.error()));
  }

 private:
  const SteadyClock clock_;
  const double fpr_;
  LocalMembership membership_;
  LruValueCache cache_;
};

class SharedParts final : public ServiceParts {
 public:
  SharedParts(std::shared_ptr<RedisClient> client, std::shared_ptr<SharedBloomFilter> filter,
              double fpr)
      : fpr_(fpr),
        client_(std::move(client)),
        filter_(std::move(filter)),
        cache_(client_, "catalogue:" + filter_->name() + ":") {}

  Membership& membership() override { return *filter_; }
  ValueCache& cache() override { return cache_; }
  bool is_shared() const override { return true; }

  std::uint64_t filter_bytes() override {
    const auto facts = filter_->inspect(Deadline::after(5s, clock_));
    return facts ? facts->size_bytes : 0;
  }

  Result<void> warm_up(Source& source) override {
    SharedFilterKeeper::Options options;
    options.fpr = fpr_;
    // A catalogue's write takes milliseconds.
    options.build.longest_write = 1s;
    options.build.lease = 5s;
    options.build.patience = 5s;
    keeper_.emplace(client_, filter_, source, std::move(options));
    return keeper_->wait_until_ready(Deadline::after(60s, clock_));
  }

 private:
  const SteadyClock clock_;
  const double fpr_;
  const std::shared_ptr<RedisClient> client_;
  const std::shared_ptr<SharedBloomFilter> filter_;
  RedisValueCache cache_;
  std::optional<SharedFilterKeeper> keeper_;
};

}  // namespace

std::unique_ptr<ServiceParts> make_local_parts(double fpr, std::uint64_t cache_bytes) {
  return std::make_unique<LocalParts>(fpr, cache_bytes);
}

Result<std::unique_ptr<ServiceParts>> make_shared_parts(const std::string& url,
                                                        const std::string& name, double fpr) {
  const auto parsed = RedisUrl::parse(url);
  if (!parsed) return fail(parsed.error());
  auto client = RedisClient::make(*parsed);
  if (!client) return fail(std::move(client).error());
  auto filter = SharedBloomFilter::make(*client, name);
  if (!filter) return fail(std::move(filter).error());
  return std::unique_ptr<ServiceParts>(
      std::make_unique<SharedParts>(std::move(*client), std::move(*filter), fpr));
}

}  // namespace guestlist::demo
