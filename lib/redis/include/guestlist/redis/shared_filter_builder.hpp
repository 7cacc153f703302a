#pragma once

// Builds a generation of a shared filter beside the one that answers, while keys are asked and
// added, and swaps it in. Also creates a filter that is not there yet.
//
//   begin     the state says "building g": every add from here on is in the log. One builder at a
//             time; another one waits for its lease, and one that comes back late is fenced off
//   insert    what a snapshot of the source holds that was opened after `begin` returned
//   publish   what the log holds since `longest_write` before `begin`; upload; adds go to both
//             generations from here on; what the log got meanwhile; swap
//
// A builder that dies at any step changes no answer: its generation is abandoned with its lease.
//
// A key may be added, and its row be committed up to `longest_write` later; a snapshot may miss it
// in between. So the log is replayed from that long before `begin`. Where the log cannot show that
// (it was trimmed or lost, the server was restarted or replaced since the last generation, or there
// is no generation: perhaps there was one a moment ago) `begin` waits that long instead.
// docs/formats/rebuild.pml models the protocol.
//
// Memory: as the filter itself, until it is published. Distinct objects: safe. Shared objects: one
// thread. Every function waits for Redis.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/shared_filter_state.hpp"

namespace guestlist {

struct SharedBuildOptions {
  std::uint64_t items = 0;  ///< planned, of all shards together
  double fpr = 0.01;
  HashKind hash = HashKind::siphash;
  /// Of a filter that is created; an existing one keeps its own.
  std::uint32_t shards = 1;
  KeyType key_type = KeyType::text;
  std::uint64_t lines_per_segment = ShardGeometry::default_lines_per_segment;
  /// The longest time from an add to the commit of its row; zero where nobody writes yet.
  Duration longest_write = std::chrono::seconds(30);
  /// A builder that is silent for so long may be replaced.
  Duration lease = std::chrono::seconds(30);
  /// How long to wait for another builder; zero: do not wait.
  Duration wait_for_builder = Duration::zero();
  /// Of a single exchange with Redis; exchanges that fail are tried again until `patience` is over.
  Duration call_timeout = std::chrono::seconds(5);
  Duration patience = std::chrono::seconds(60);
  /// The largest piece of an upload; Redis serves others between two of them.
  std::size_t piece_bytes = std::size_t{256} << 10;
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)> progress;
};

struct SharedBuildReport {
  std::uint64_t generation = 0;  ///< of shard 0
  std::uint64_t size_bytes = 0;
  std::uint64_t replayed = 0;  ///< keys that came out of the log
};

class SharedFilterBuilder {
 public:
  /// Errors: `invalid_argument`, `too_large` (as FilterPlan); `already_exists` where another
  /// builder is at work, with how long it has left; `mismatched` where what is there is no such
  /// filter; `unavailable`.
  static Result<SharedFilterBuilder> begin(std::shared_ptr<RedisClient> client, std::string name,
                                           const SharedBuildOptions& options);
  SharedFilterBuilder(SharedFilterBuilder&&) noexcept;
  SharedFilterBuilder& operator=(SharedFilterBuilder&&) noexcept;
  /// Abandons what was not published.
  ~SharedFilterBuilder();

  KeyType key_type() const noexcept;
  /// Canonical keys. Renews the lease now and then.
  /// Errors: `cancelled` where another builder has taken over.
  Result<void> insert(std::span<const std::string_view> keys);
  /// `position`: how far the source was read; kept beside the bits.
  /// Errors: `cancelled` where another builder has taken over, or the server was replaced
  /// meanwhile; `corrupt` where the log no longer holds what must be replayed; `unavailable`. What
  /// answered before answers on.
  Result<SharedBuildReport> publish(std::string_view position = {});

 private:
  class Build;
  explicit SharedFilterBuilder(std::unique_ptr<Build> build);

  std::unique_ptr<Build> build_;
};

/// An empty filter; true: it was made, false: one with the same parameters is there.
/// Errors: `already_exists` where one with others is there; as SharedFilterBuilder.
Result<bool> create_shared_filter(const std::shared_ptr<RedisClient>& client,
                                  const std::string& name, const SharedBuildOptions& options);

/// Removes a filter with all its keys, a segment at a time, without holding the server up. Whoever
/// asks meanwhile hears `unknown(missing)`. Returns the number of keys removed.
/// Errors: `not_found`; `unavailable`.
Result<std::uint64_t> drop_shared_filter(RedisClient& client, const std::string& name,
                                         Duration call_timeout = std::chrono::seconds(5));

/// Marks the filter as not to be trusted: every answer is `unknown(incomplete)` until a new
/// generation is published. Errors: `not_found`; `unavailable`.
Result<void> distrust_shared_filter(RedisClient& client, const std::string& name,
                                    std::string_view why,
                                    Duration call_timeout = std::chrono::seconds(5));

}  // namespace guestlist
