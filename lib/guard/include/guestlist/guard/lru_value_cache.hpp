#pragma once

// Values in this process, bounded in bytes; the least recently used go first. The embedded default
// behind the ValueCache port; it answers before the call returns.
//
// Distinct objects: safe. Shared objects: safe; locked in shards by key.

#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "guestlist/port/value_cache.hpp"

namespace guestlist {

class LruValueCache final : public ValueCache {
 public:
  /// `capacity_bytes` bounds keys, values and their bookkeeping together. A value that alone
  /// exceeds its shard, a sixteenth, is not cached.
  LruValueCache(std::uint64_t capacity_bytes, const Clock& clock);

  void get(std::string_view key, Deadline deadline,
           Completion<std::optional<std::string>> done) override;
  void put(std::string_view key, std::string_view value, Duration time_to_live, Deadline deadline,
           Completion<void> done) override;
  void erase(std::string_view key, Deadline deadline, Completion<void> done) override;

  std::uint64_t size_bytes() const;
  std::uint64_t count() const;

 private:
  struct Entry {
    std::string key;
    std::string value;
    TimePoint expires;
  };
  using Entries = std::list<Entry>;
  struct Shard {
    mutable std::mutex mutex;
    Entries by_use;  ///< least recently used first
    std::unordered_map<std::string_view, Entries::iterator>
        by_key;  ///< views of the entries' own keys
    std::uint64_t size_bytes = 0;

    void drop(Entries::iterator entry);
    void drop(std::string_view key);
  };
  static constexpr std::size_t shard_count = 16;
  static std::uint64_t cost_bytes(std::string_view key, std::string_view value) noexcept;
  Shard& shard(std::string_view key) noexcept;

  std::uint64_t shard_capacity_bytes_;
  const Clock& clock_;
  std::array<Shard, shard_count> shards_;
};

}  // namespace guestlist
