#include "guestlist/guard/null_cache.hpp"

#include <functional>

namespace guestlist {

NullCache::NullCache(std::uint64_t capacity_bytes, Duration time_to_live)
    : shard_capacity_bytes_(capacity_bytes / shard_count), time_to_live_(time_to_live) {}

std::uint64_t NullCache::cost_bytes(std::string_view key) noexcept {
  // A list node, a map node and a share of the map's buckets, as libstdc++ lays them out; and the
  // key where it does not fit into the string itself.
  constexpr std::uint64_t bookkeeping = 64 + 48 + 16;
  return bookkeeping + (key.size() > 15 ? key.size() + 1 : 0);
}

NullCache::Slot NullCache::slot(std::string_view key) {
  const std::size_t hash = std::hash<std::string_view>{}(key);
  Shard& shard = shards_[hash % shard_count];
  return {shard, shard.lease_counts[hash / shard_count % shard.lease_counts.size()]};
}

void NullCache::Shard::drop(Entries::iterator entry) {
  size_bytes -= cost_bytes(entry->key);
  by_key.erase(entry->key);
  by_age.erase(entry);
}

bool NullCache::knows(std::string_view key, TimePoint now) {
  Shard& shard = slot(key).shard;
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return false;
  if (now < found->second->expires) return true;
  shard.drop(found->second);
  return false;
}

NullCache::Lease NullCache::begin_load(std::string_view key) {
  const Slot at = slot(key);
  const std::lock_guard lock(at.shard.mutex);
  return {at.lease_count};
}

bool NullCache::holds(std::string_view key, Lease lease) {
  const Slot at = slot(key);
  const std::lock_guard lock(at.shard.mutex);
  return at.lease_count == lease.count;
}

bool NullCache::remember(std::string_view key, Lease lease, TimePoint now) {
  const Slot at = slot(key);
  Shard& shard = at.shard;
  const std::lock_guard lock(shard.mutex);
  if (at.lease_count != lease.count) return false;
  const std::uint64_t cost = cost_bytes(key);
  if (cost > shard_capacity_bytes_) return false;
  if (const auto known = shard.by_key.find(key); known != shard.by_key.end())
    shard.drop(known->second);
  while (shard.size_bytes + cost > shard_capacity_bytes_) shard.drop(shard.by_age.begin());
  shard.by_age.push_back({std::string(key), now + time_to_live_});
  const auto entry = std::prev(shard.by_age.end());
  shard.by_key.emplace(entry->key, entry);
  shard.size_bytes += cost;
  return true;
}

void NullCache::invalidate(std::string_view key) {
  const Slot at = slot(key);
  const std::lock_guard lock(at.shard.mutex);
  ++at.lease_count;
  if (const auto known = at.shard.by_key.find(key); known != at.shard.by_key.end()) {
    at.shard.drop(known->second);
  }
}

std::uint64_t NullCache::size_bytes() const {
  std::uint64_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.size_bytes;
  }
  return total;
}

std::uint64_t NullCache::count() const {
  std::uint64_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.by_age.size();
  }
  return total;
}

}  // namespace guestlist
