#pragma once

// The bitmap of the tutorials' "BloomFilterHelper" (guava_bitmap_layout.hpp) as a filter: one round
// trip for any number of keys, where the helper makes one for each bit.
//
// Nothing but the bits is in Redis: items and fpr must be those of whoever filled it, and nothing
// can tell if they are not. Otherwise as RedissonBloomFilter. Distinct objects: safe. Shared
// objects: safe.

#include <memory>
#include <string>

#include "guestlist/redis/guava_bitmap_layout.hpp"
#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/remote_filter.hpp"

namespace guestlist {

namespace redis {
class BitmapFilter;
}

class GuavaRedisBloomFilter final : public RemoteFilter {
 public:
  /// `key`: as it stands in Redis (jdk_serialized_key, where a RedisTemplate wrote it).
  /// Errors: `invalid_argument` for an empty key; as GuavaBitmapSize::make.
  static Result<std::shared_ptr<GuavaRedisBloomFilter>> make(std::shared_ptr<RedisClient> client,
                                                             std::string key, std::uint64_t items,
                                                             double fpr, GuavaBitmapFunnel funnel);

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  void add_counted(std::span<const std::string_view> keys, Deadline deadline,
                   Completion<std::uint64_t> done) override;
  Result<KeyType> open(Deadline deadline) override;
  /// Makes an empty bitmap. Requires: items and fpr as given to make.
  Result<bool> create(std::uint64_t items, double fpr, Deadline deadline) override;
  Result<RemoteFilterFacts> inspect(Deadline deadline) override;
  Result<std::uint64_t> drop(Deadline deadline) override;

 private:
  GuavaRedisBloomFilter(std::shared_ptr<redis::BitmapFilter> bitmap, GuavaBitmapSize size,
                        std::uint64_t items, double fpr)
      : bitmap_(std::move(bitmap)), size_(size), items_(items), fpr_(fpr) {}

  std::shared_ptr<redis::BitmapFilter> bitmap_;
  GuavaBitmapSize size_;
  std::uint64_t items_;
  double fpr_;
};

}  // namespace guestlist
