#pragma once

// The build of one shard's generation: the steps of SharedFilterBuilder, on one slot.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"
#include "patient_calls.hpp"

namespace guestlist::redis {

class ShardBuild {
 public:
  /// What a filter that is not there yet is created with.
  struct Founding {
    std::uint32_t shards;
    Secret shard_secret;
    KeyType key_type;
  };

  /// Keeps other builders away from a filter that is not there, until its first shard has begun.
  /// Errors: as SharedFilterBuilder::begin; `cancelled` where the filter is there by now.
  static Result<void> claim(const PatientCalls& calls, const std::string& filter,
                            const std::string& token, const Founding& founding,
                            const SharedBuildOptions& options);

  /// Takes it back where the first shard has not begun.
  static void release_claim(const PatientCalls& calls, const std::string& filter,
                            const std::string& token);

  /// Errors: as SharedFilterBuilder::begin; `cancelled` where the filter was made anew since
  /// `founding` was read.
  static Result<ShardBuild> begin(const PatientCalls& calls, const std::string& filter,
                                  std::uint32_t shard, std::string token, const Founding& founding,
                                  const SharedBuildOptions& options);

  /// Whether the snapshot must wait for `longest_write`: the log cannot tell what was added before.
  bool must_wait() const noexcept { return must_wait_; }
  void insert(std::string_view key) noexcept { bits_.insert(key); }
  std::uint64_t size_bytes() const noexcept { return bits_.size_bytes(); }
  std::uint64_t generation() const noexcept { return generation_; }
  std::uint64_t replayed() const noexcept { return replayed_; }

  /// Errors: `cancelled`.
  Result<void> renew_lease() const;
  /// `uploaded` is told of each piece.
  Result<void> publish(std::string_view position, std::uint64_t items,
                       const std::function<void(std::uint64_t bytes)>& uploaded);
  void abandon() const;

 private:
  ShardBuild(PatientCalls calls, ShardKeys keys, std::uint32_t shard, std::string token,
             BloomFilter bits, const SharedBuildOptions& options)
      : calls_(calls),
        keys_(std::move(keys)),
        shard_(shard),
        token_(std::move(token)),
        bits_(std::move(bits)),
        options_(options) {}

  /// Removes the segments that nobody will ask for again.
  Result<void> clear_leftovers(const std::optional<SharedFilterState>& before,
                               const Founding& founding, const RedisReply& unfinished) const;
  /// Takes in what the log still holds and finds out whether that is all there ever was. `begun`:
  /// the reply to the script, which knows what was there at that very moment.
  Result<void> read_past(const RedisReply& begun);
  Result<void> replay_locally(std::string_view end, bool& gap);
  /// What came after the last entry that was replayed, up to `end`, or where that is empty to the
  /// log's end. `gap` is set where an entry is missing: each names the one before it.
  template <class Take>
  Result<void> read_log(std::string_view end, bool& gap, Take take);
  Result<void> upload(const GenerationParameters& parameters,
                      const std::function<void(std::uint64_t bytes)>& uploaded);
  Result<void> upload_segment(const GenerationParameters& parameters, std::uint64_t segment,
                              const std::function<void(std::uint64_t bytes)>& uploaded);
  void add_piece(RedisPipeline& pipeline, const std::string& segment, const std::string& header,
                 std::uint64_t at, std::string_view piece) const;
  Result<void> send_pieces(const RedisPipeline& pipeline) const;
  Result<void> replay_on_server(const GenerationParameters& parameters, std::string_view end);
  Result<void> send_lines(const GenerationParameters& parameters,
                          const std::vector<std::string>& keys);
  Result<RedisReply> step(const RedisScript& script, const std::vector<std::string>& segments,
                          const std::vector<std::string>& arguments) const;
  /// The reply to a step that was taken. Errors: why it was not.
  Result<RedisReply> outcome(RedisReply reply) const;
  bool is_published() const;
  std::vector<std::string> segment_names(const ShardGeometry& geometry) const;
  Error log_was_trimmed() const;
  Error taken_over() const;

  PatientCalls calls_;
  ShardKeys keys_;
  std::uint32_t shard_;
  std::string token_;  ///< and the generation, as the scripts want it
  BloomFilter bits_;
  SharedBuildOptions options_;
  std::uint64_t generation_ = 0;
  std::uint64_t former_ = 0;  ///< generation that ours replaces
  std::string server_;
  std::string replayed_to_ = "0-0";
  std::uint64_t replayed_ = 0;
  bool must_wait_ = false;
};

/// Unlinks the segments of a generation, a few at a time, until there are no more. Returns how
/// many.
Result<std::uint64_t> unlink_segments(const PatientCalls& calls, const ShardKeys& keys,
                                      std::uint64_t generation);

/// Unlinks all of a shard, its state last: whoever finds a segment gone says `unknown`. Returns the
/// number of keys.
Result<std::uint64_t> remove_shard(const PatientCalls& calls, const std::string& filter,
                                   std::uint32_t shard);

}  // namespace guestlist::redis
