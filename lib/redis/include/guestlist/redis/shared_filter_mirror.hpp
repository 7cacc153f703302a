#pragma once

// A copy of a shared filter in this process: it loads the lines, follows the log, and answers in
// nanoseconds what Redis answers in a round trip.
//
// What it promises, by `confirm`:
//   true   A key that the copy does not have is asked in Redis before `absent` counts. Nothing is
//   lost
//          against asking Redis alone; keys that exist, and false positives, cost no round trip.
//   false  The copy's `absent` counts while its lease lasts. A key that another process added may
//   be
//          called absent for as long as the lease, even after that process was told that the add
//          was done. Only for callers who may not see a key before the lease is over.
//
// The lease is monotonic time from the moment a look at Redis began. When it has run out (Redis
// away, the process stopped) the copy says nothing and Redis is asked.
//
// Cost: the filter's size in memory; `mirror/*` of redis_bench. Distinct objects: safe. Shared
// objects: safe. Has a thread of its own. Tested by: SharedFilterMirrorTest.*

#include <memory>

#include "guestlist/redis/shared_bloom_filter.hpp"

namespace guestlist {

class SharedFilterMirror final : public Membership {
 public:
  struct Options {
    bool confirm = true;
    Duration lease = std::chrono::seconds(1);
    Duration follow_every = std::chrono::milliseconds(20);
  };
  struct Status {
    bool is_fresh = false;  ///< every shard's copy is complete and its lease lasts
    std::uint64_t size_bytes = 0;
    std::uint64_t loads = 0;     ///< copies that were loaded whole
    std::uint64_t followed = 0;  ///< keys taken from the log
  };

  /// Requires: the client is the filter's.
  SharedFilterMirror(std::shared_ptr<RedisClient> client, std::shared_ptr<SharedBloomFilter> filter,
                     const Options& options);
  ~SharedFilterMirror() override;

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<void> done) override;
  std::shared_ptr<const void> begin_write() override { return filter_->begin_write(); }

  Status status() const;

 private:
  class Core;
  const std::shared_ptr<SharedBloomFilter> filter_;
  const std::shared_ptr<Core> core_;
};

}  // namespace guestlist
