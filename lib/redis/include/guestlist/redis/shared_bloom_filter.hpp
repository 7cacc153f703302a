#pragma once

// A filter that many processes share through a plain Redis or Valkey. It is asked in one round trip
// a node, whatever the number of keys; it is added to by one script a shard. Nothing is ever
// created by asking or adding: create, load and rebuild are SharedFilterBuilder's.
//
//   auto filter = SharedBloomFilter::make(client, "products");
//   filter->check(keys, Deadline::after(50ms, clock), [](std::span<const Verdict> verdicts) { … });
//
// `absent` is said only when the same answer of Redis shows all of this: every line that was read
// is whole; the epoch is the one whose parameters placed the bits; the server is a master, and the
// same one, not restarted, whose memory was complete when the generation was published. Whatever
// else happened (evicted, flushed, dropped, swapped, failed over, restarted from an old snapshot,
// foreign bytes, no answer) is `unknown` with its reason, and is asked once more where that can
// help.
//
// An add that failed is kept and tried again beside later calls; until it has succeeded this object
// says `unknown(incomplete)` for its key. The caller must not go on as if the key were on the list.
//
// A write must be committed within `longest_write` (SharedFilterBuilder) after its add.
//
// Distinct objects: safe. Shared objects: safe. Completions run on the client's thread, or on the
// caller's where Redis is not asked at all. Format: docs/formats/shared-filter.md.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/remote_filter.hpp"
#include "guestlist/redis/shared_filter_state.hpp"

namespace guestlist {

class SharedBloomFilter final : public RemoteFilter {
 public:
  struct Options {
    /// Entries of a shard's log that are kept; mirrors and builders read them.
    std::uint64_t log_entries = 100'000;
    /// Keys of failed adds that are kept; beyond it every answer is `unknown(incomplete)`.
    std::size_t max_failed_adds = 65'536;
  };

  /// Errors: `invalid_argument` for an impossible name. Redis is not asked yet.
  static Result<std::shared_ptr<SharedBloomFilter>> make(std::shared_ptr<RedisClient> client,
                                                         std::string name, const Options& options);
  static Result<std::shared_ptr<SharedBloomFilter>> make(std::shared_ptr<RedisClient> client,
                                                         std::string name) {
    return make(std::move(client), std::move(name), Options{});
  }
  ~SharedBloomFilter() override;

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  /// Errors, beside those of the port: `corrupt` where a segment is gone or cut short; `full` where
  /// Redis is at its memory limit.
  void add_counted(std::span<const std::string_view> keys, Deadline deadline,
                   Completion<std::uint64_t> done) override;
  Result<KeyType> open(Deadline deadline) override;
  /// With one shard, siphash and keys of any bytes; SharedFilterBuilder has the choices.
  Result<bool> create(std::uint64_t items, double fpr, Deadline deadline) override;
  /// Complexity: counts the bits, a MiB at a time.
  Result<RemoteFilterFacts> inspect(Deadline deadline) override;
  Result<std::uint64_t> drop(Deadline deadline) override;

  /// The state of one shard as Redis has it now. Errors: `not_found`; of the client.
  Result<SharedFilterState> state(std::uint32_t shard, Deadline deadline);
  const std::string& name() const noexcept;

 private:
  class Core;
  explicit SharedBloomFilter(std::shared_ptr<Core> core);
  Result<std::uint64_t> count_bits(const ShardKeys& keys, const SharedFilterState& state,
                                   Deadline deadline);

  std::shared_ptr<Core> core_;
};

}  // namespace guestlist
