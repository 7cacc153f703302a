#pragma once

// A value cache in Redis that several processes share. What is put is kept only under a lease that
// still holds: a loader that read the database before a write, and comes back after it, changes
// nothing, whichever process wrote.
//
//   lease   SET key L<token> NX PX: a place is held, and reads as nothing
//   put     a script: V<value> in the place of that very token
//   erase   UNLINK: value and lease are gone
//
// Keys are `prefix` and the key. The memory is Redis's to bound (maxmemory, allkeys-lru): let
// values not share a server with filters under such a policy, or filters are evicted.
//
// Distinct objects: safe. Shared objects: safe. Tested by: RedisValueCacheTest.*, the laws of
// ValueCache.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "guestlist/port/value_cache.hpp"
#include "guestlist/redis/redis_client.hpp"

namespace guestlist {

class RedisValueCache final : public ValueCache {
 public:
  /// How long a loader may take.
  static constexpr Duration lease_time = std::chrono::seconds(10);
  /// Leases that are remembered; beyond it, loads are not kept.
  static constexpr std::size_t max_leases = 65'536;

  RedisValueCache(std::shared_ptr<RedisClient> client, std::string prefix)
      : client_(std::move(client)), prefix_(std::move(prefix)) {}

  void get(std::string_view key, Deadline deadline,
           Completion<std::optional<std::string>> done) override;
  void lease(std::string_view key, Deadline deadline, Completion<void> done) override;
  void put(std::string_view key, std::string_view value, Duration time_to_live, Deadline deadline,
           Completion<void> done) override;
  void erase(std::string_view key, Deadline deadline, Completion<void> done) override;

 private:
  std::string name_of(std::string_view key) const { return prefix_ + std::string(key); }

  const std::shared_ptr<RedisClient> client_;
  const std::string prefix_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> leases_;  ///< token by key
};

}  // namespace guestlist
