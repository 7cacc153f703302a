#pragma once

// Keeps a shared filter built: looks at it now and then, and builds it from the source where it is
// missing, not to be trusted, full, too often wrong, too old, or full of deleted keys. Any number
// of processes may keep one filter: one of them builds, the others see it at work and go on.
//
// Distinct objects: safe. Shared objects: safe. Has a thread of its own.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "guestlist/filter/rebuild_policy.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/redis/shared_bloom_filter.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"

namespace guestlist {

class SharedFilterKeeper {
 public:
  struct Options {
    RebuildTriggers triggers;
    double fpr = 0.01;
    /// Room for keys that come later, as a share of the source's count.
    double headroom = 0.25;
    /// Used where the source does not know its count.
    std::uint64_t capacity_without_count = 1'000'000;
    /// Whether the filter is there and trusted; cheap.
    Duration look_every = std::chrono::milliseconds(200);
    /// How full it is; counts its bits.
    Duration measure_every = std::chrono::seconds(10);
    /// shards, hash, longest_write and the like; items and fpr are taken from above.
    SharedBuildOptions build;
    /// Told of each attempt when it ends: why it was made, and its error. From the keeper's thread.
    std::function<void(RebuildReason, const Result<SharedBuildReport>&)> on_rebuild;
  };

  /// Requires: `source` outlives the keeper.
  SharedFilterKeeper(std::shared_ptr<RedisClient> client, std::shared_ptr<SharedBloomFilter> filter,
                     Source& source, Options options);
  SharedFilterKeeper(const SharedFilterKeeper&) = delete;
  SharedFilterKeeper& operator=(const SharedFilterKeeper&) = delete;
  ~SharedFilterKeeper();

  void request_rebuild();
  /// Keys that were deleted from the source since the generation was built.
  void report_deleted(std::uint64_t keys);
  /// The rate of false positives as measured on answers.
  void report_fpr(double measured);
  /// Waits until the filter is there and trusted. Errors: `deadline_exceeded`, with the last error.
  Result<void> wait_until_ready(Deadline deadline);

 private:
  void run();
  RebuildReason look();
  Result<SharedBuildReport> rebuild();
  Result<std::uint64_t> planned_items();
  void sleep();

  const SteadyClock clock_;
  const std::shared_ptr<RedisClient> client_;
  const std::shared_ptr<SharedBloomFilter> filter_;
  Source& source_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;
  bool is_ready_ = false;
  bool asked_by_hand_ = false;
  std::uint64_t deleted_ = 0;
  std::optional<double> measured_fpr_;
  std::string last_error_;

  FilterCondition condition_;  ///< of the thread, as all below
  std::uint64_t generation_ = 0;
  TimePoint generation_seen_{};
  TimePoint next_measurement_{};
  std::thread thread_;
};

}  // namespace guestlist
