#pragma once

// The copy of one shard that a mirror holds. It is loaded whole, then follows the log entry by
// entry; every entry names the one before it, so a missing one is seen, and the copy is loaded
// anew.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "guestlist/filter/bloom_filter.hpp"
#include "shard_views.hpp"

namespace guestlist::redis {

class ShardCopy {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{256} << 10;

  /// Loads what the view describes. It is not fresh before it has followed what was added
  /// meanwhile. Errors: `unavailable`; `cancelled` where the shard changed meanwhile.
  static Result<std::shared_ptr<ShardCopy>> load(RedisClient& client, const std::string& filter,
                                                 std::uint32_t shard, ShardViews::View view,
                                                 Duration call_timeout, const Clock& clock);

  /// Takes in what the log got since, and renews the lease from the moment before it looked.
  /// Returns the number of keys. Errors: `unavailable`; `cancelled` where the copy is no more that
  /// of the shard: load another.
  Result<std::uint64_t> follow(RedisClient& client, Duration call_timeout, const Clock& clock);

  bool may_contain(std::string_view key) const noexcept { return bits_.may_contain(key); }
  void insert(std::string_view key) noexcept { bits_.insert_concurrently(key); }
  bool is_fresh(TimePoint now, Duration lease) const noexcept {
    return now < TimePoint(Duration(looked_at_.load(std::memory_order_acquire))) + lease;
  }
  std::uint64_t size_bytes() const noexcept { return bits_.size_bytes(); }
  const ShardViews::View& view() const noexcept { return view_; }

 private:
  ShardCopy(ShardKeys keys, ShardViews::View view, BloomFilter bits)
      : keys_(std::move(keys)),
        view_(std::move(view)),
        bits_(std::move(bits)),
        followed_to_(view_->state.log) {}

  const ShardKeys keys_;
  const ShardViews::View view_;
  BloomFilter bits_;
  std::string followed_to_;
  /// Released after the keys of a look are in the bits, so whoever finds the copy fresh finds them.
  std::atomic<Duration::rep> looked_at_{0};
};

}  // namespace guestlist::redis
