#pragma once

// Short-lived memory of keys that the source did not have, so that repeated questions for one of
// them do not reach it. Bounded in bytes: a million distinct absent keys push each other out, and
// nothing else.
//
// A null is leased. `begin_load` gives a lease, and `remember` refuses if the key was added or
// invalidated since: a loader that read "nothing" just before a row was committed cannot hide the
// row. Leases cost no memory a key: they are counters that keys share by hash, and sharing only
// ever refuses a null too many.
//
// Pure: time is a value. Distinct objects: safe. Shared objects: safe; locked in shards by key.
// Tested by: NullCache.*

#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "guestlist/base/clock.hpp"

namespace guestlist {

class NullCache {
 public:
  /// What `remember` compares; only good for the key it was given for.
  struct Lease {
    std::uint64_t count = 0;
  };

  /// `capacity_bytes` bounds keys and their bookkeeping together.
  NullCache(std::uint64_t capacity_bytes, Duration time_to_live);

  /// Whether the key is known to be absent from the source.
  bool knows(std::string_view key, TimePoint now);
  /// Before the source is asked.
  Lease begin_load(std::string_view key);
  /// Whether nothing was added or invalidated for the key since the lease was given.
  bool holds(std::string_view key, Lease lease);
  /// After the source had nothing. False: the lease is void, and nothing is remembered.
  bool remember(std::string_view key, Lease lease, TimePoint now);
  /// The key was added, written or removed: forgets the null and voids the leases of loads in
  /// flight.
  void invalidate(std::string_view key);

  std::uint64_t size_bytes() const;
  std::uint64_t count() const;

 private:
  struct Entry {
    std::string key;
    TimePoint expires;
  };
  using Entries = std::list<Entry>;
  struct Shard {
    mutable std::mutex mutex;
    Entries by_age;  ///< oldest first; all live equally long, so this is also the order of expiry
    std::unordered_map<std::string_view, Entries::iterator>
        by_key;  ///< views of the entries' own keys
    std::array<std::uint64_t, 256> lease_counts{};
    std::uint64_t size_bytes = 0;

    void drop(Entries::iterator entry);
  };
  struct Slot {
    Shard& shard;
    std::uint64_t& lease_count;
  };
  static constexpr std::size_t shard_count = 16;
  static std::uint64_t cost_bytes(std::string_view key) noexcept;
  Slot slot(std::string_view key);

  std::uint64_t shard_capacity_bytes_;
  Duration time_to_live_;
  std::array<Shard, shard_count> shards_;
};

}  // namespace guestlist
