#include "guestlist/redis/guava_redis_bloom_filter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bitmap_filter.hpp"

namespace guestlist {
namespace {

class GuavaPlaces final : public redis::BitmapPlaces {
 public:
  explicit GuavaPlaces(GuavaBitmapSize size) noexcept : size_(size) {}

  void of(std::string_view funnelled, std::vector<std::uint64_t>& places) const override {
    GuavaBitmapProbes probes(funnelled, size_.bits);
    for (std::uint32_t i = 0; i < size_.probes; ++i) {
      places.push_back(probes.next());
    }
  }
  std::vector<std::pair<std::string, std::string>> required_fields() const override { return {}; }
  std::uint64_t size_bytes() const override { return size_.size_bytes(); }

 private:
  GuavaBitmapSize size_;
};

class GuavaFormat final : public redis::BitmapFormat {
 public:
  GuavaFormat(std::string key, GuavaBitmapSize size, GuavaBitmapFunnel funnel)
      : key_(std::move(key)), places_(std::make_shared<GuavaPlaces>(size)), funnel_(funnel) {}

  const std::string& bitmap_key() const override { return key_; }
  const std::string& parameters_key() const override { return none_; }
  std::span<const std::string_view> parameter_fields() const override { return {}; }
  Result<std::shared_ptr<const redis::BitmapPlaces>> places(
      const RedisReply& /*values*/) const override {
    return places_;
  }
  Result<std::string_view> encode(std::string_view key, std::string& buffer) const override {
    return funnel(funnel_, key, buffer);
  }

 private:
  std::string key_;
  std::string none_;
  std::shared_ptr<const redis::BitmapPlaces> places_;
  GuavaBitmapFunnel funnel_;
};

}  // namespace

Result<std::shared_ptr<GuavaRedisBloomFilter>> GuavaRedisBloomFilter::make(
    std::shared_ptr<RedisClient> client, std::string key, std::uint64_t items, double fpr,
    GuavaBitmapFunnel funnel) {
  if (key.empty()) {
    return fail(Errc::invalid_argument, "the key of the bitmap is empty");
  }
  const auto size = GuavaBitmapSize::make(items, fpr);
  if (!size) {
    return fail(size.error());
  }
  auto bitmap = std::make_shared<redis::BitmapFilter>(
      std::move(client), std::make_unique<GuavaFormat>(std::move(key), *size, funnel));
  return std::shared_ptr<GuavaRedisBloomFilter>(
      new GuavaRedisBloomFilter(std::move(bitmap), *size, items, fpr));
}

void GuavaRedisBloomFilter::check(std::span<const std::string_view> keys, Deadline deadline,
                                  Verdicts done) {
  bitmap_->check(keys, deadline, std::move(done));
}

void GuavaRedisBloomFilter::add_counted(std::span<const std::string_view> keys, Deadline deadline,
                                        Completion<std::uint64_t> done) {
  bitmap_->add(keys, deadline, std::move(done));
}

Result<KeyType> GuavaRedisBloomFilter::open(Deadline deadline) {
  const auto length =
      bitmap_->client().call(bitmap_->slot(), {"STRLEN", bitmap_->format().bitmap_key()}, deadline);
  if (!length.is_ok()) {
    return fail(length.error());
  }
  if (length.integer() == 0) {
    return fail(Errc::not_found,
                fmt::format("there is no bitmap '{}' at {}", bitmap_->format().bitmap_key(),
                            bitmap_->client().url().text()));
  }
  return KeyType::text;
}

Result<bool> GuavaRedisBloomFilter::create(std::uint64_t items, double fpr, Deadline deadline) {
  const auto size = GuavaBitmapSize::make(items, fpr);
  if (!size) {
    return fail(size.error());
  }
  if (*size != size_) {
    return fail(Errc::mismatched,
                fmt::format("the bitmap is asked as one for {} items at {}", items_, fpr_));
  }
  const auto there =
      bitmap_->client().call(bitmap_->slot(), {"STRLEN", bitmap_->format().bitmap_key()}, deadline);
  if (!there.is_ok()) {
    return fail(there.error());
  }
  if (there.integer().value_or(0) > static_cast<std::int64_t>(size_.size_bytes())) {
    return fail(
        Errc::already_exists,
        fmt::format("the bitmap '{}' exists already and is left alone: it has {} bytes, and "
                    "{} items at {} need {}",
                    bitmap_->format().bitmap_key(), there.text(), items, fpr, size_.size_bytes()));
  }
  if (there.integer().value_or(0) > 0) {
    return false;
  }
  if (auto grown = bitmap_->grow(size_.size_bytes(), deadline); !grown) {
    return fail(std::move(grown).error());
  }
  return true;
}

Result<RemoteFilterFacts> GuavaRedisBloomFilter::inspect(Deadline deadline) {
  if (auto there = open(deadline); !there) {
    return fail(std::move(there).error());
  }
  const auto set = bitmap_->count_bits(deadline);
  if (!set) {
    return fail(set.error());
  }
  RemoteFilterFacts facts;
  facts.structure = "guava";
  facts.capacity = items_;
  facts.fpr = fpr_;
  facts.bits = size_.bits;
  facts.size_bytes = size_.size_bytes();
  facts.hash = "murmur3-128";
  facts.fill = static_cast<double>(*set) / size_.bits;
  facts.fpr_now = std::pow(*facts.fill, size_.probes);
  if (*facts.fill < 1) {
    facts.estimated_items = static_cast<std::uint64_t>(
        std::llround(-std::log1p(-*facts.fill) * size_.bits / size_.probes));
  }
  return facts;
}

Result<std::uint64_t> GuavaRedisBloomFilter::drop(Deadline deadline) {
  return bitmap_->drop(deadline);
}

}  // namespace guestlist
