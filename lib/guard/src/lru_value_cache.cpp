#include "guestlist/guard/lru_value_cache.hpp"

#include <functional>

namespace guestlist {

LruValueCache::LruValueCache(std::uint64_t capacity_bytes, const Clock& clock)
    : shard_capacity_bytes_(capacity_bytes / shard_count), clock_(clock) {}

std::uint64_t LruValueCache::cost_bytes(std::string_view key, std::string_view value) noexcept {
  // A list node with two strings, a map node and a share of the map's buckets, as libstdc++ lays
  // them out.
  constexpr std::uint64_t bookkeeping = 96 + 48 + 16;
  return bookkeeping + key.size() + value.size() + 2;
}

LruValueCache::Shard& LruValueCache::shard(std::string_view key) noexcept {
  return shards_[std::hash<std::string_view>{}(key) % shard_count];
}

void LruValueCache::Shard::drop(Entries::iterator entry) {
  size_bytes -= cost_bytes(entry->key, entry->value);
  by_key.erase(entry->key);
  by_use.erase(entry);
}

void LruValueCache::Shard::drop(std::string_view key) {
  if (const auto found = by_key.find(key); found != by_key.end()) drop(found->second);
}

void LruValueCache::get(std::string_view key, Deadline,
                        Completion<std::optional<std::string>> done) {
  std::optional<std::string> value;
  {
    Shard& at = shard(key);
    const std::lock_guard lock(at.mutex);
    const auto found = at.by_key.find(key);
    if (found != at.by_key.end()) {
      if (clock_.now() < found->second->expires) {
        at.by_use.splice(at.by_use.end(), at.by_use, found->second);
        value = found->second->value;
      } else {
        at.drop(found->second);
      }
    }
  }
  done(std::move(value));
}

void LruValueCache::put(std::string_view key, std::string_view value, Duration time_to_live,
                        Deadline, Completion<void> done) {
  {
    Shard& at = shard(key);
    const std::uint64_t cost = cost_bytes(key, value);
    const std::lock_guard lock(at.mutex);
    at.drop(key);
    if (cost <= shard_capacity_bytes_) {
      while (at.size_bytes + cost > shard_capacity_bytes_) at.drop(at.by_use.begin());
      at.by_use.push_back({std::string(key), std::string(value), clock_.now() + time_to_live});
      const auto entry = std::prev(at.by_use.end());
      at.by_key.emplace(entry->key, entry);
      at.size_bytes += cost;
    }
  }
  done({});
}

void LruValueCache::erase(std::string_view key, Deadline, Completion<void> done) {
  {
    Shard& at = shard(key);
    const std::lock_guard lock(at.mutex);
    at.drop(key);
  }
  done({});
}

std::uint64_t LruValueCache::size_bytes() const {
  std::uint64_t total = 0;
  for (const Shard& at : shards_) {
    const std::lock_guard lock(at.mutex);
    total += at.size_bytes;
  }
  return total;
}

std::uint64_t LruValueCache::count() const {
  std::uint64_t total = 0;
  for (const Shard& at : shards_) {
    const std::lock_guard lock(at.mutex);
    total += at.by_use.size();
  }
  return total;
}

}  // namespace guestlist
