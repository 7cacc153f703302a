#pragma once

// The state of one shard, as its hash in Redis says it. Pure.
// Format: docs/formats/shared-filter.md.

#include <cstdint>
#include <optional>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/hash/secret.hpp"
#include "guestlist/redis/redis_reply.hpp"
#include "guestlist/redis/shared_filter_layout.hpp"

namespace guestlist {

struct SharedFilterState {
  static constexpr int format = 1;
  static constexpr std::uint32_t max_shards = 1024;

  std::uint32_t shards = 1;
  Secret shard_secret;
  KeyType key_type = KeyType::text;
  /// Unlike every other that this shard ever had, also after it was dropped and created anew.
  std::string epoch;
  /// The last entry of the log, or "0-0".
  std::string log = "0-0";
  /// What answers, and its number; 0: none is complete yet.
  std::uint64_t generation = 0;
  std::optional<GenerationParameters> live;
  /// The number of the generation that is being built, or 0.
  std::uint64_t building = 0;
  /// Its parameters, from the moment on at which adds go to both.
  std::optional<GenerationParameters> next;
  /// The server whose memory was complete when the generation was published: its replication id.
  std::string server;
  /// Why the generation is not to be trusted, or empty.
  std::string incomplete;
  /// How far the source was followed; whatever the source wrote.
  std::string position;

  /// Of the reply to HGETALL; nothing where there is no such key, or a builder has only claimed it.
  /// Errors: `mismatched` (a key of another type), `unavailable`, `newer_version`,
  /// `foreign_format`.
  static Result<std::optional<SharedFilterState>> parse(const RedisReply& reply);
};

/// `master_replid` and whether the server is a master, out of the reply to INFO replication.
struct ServerIdentity {
  std::string replication_id;
  bool is_master = false;

  static Result<ServerIdentity> parse(const RedisReply& reply);
  friend bool operator==(const ServerIdentity&, const ServerIdentity&) noexcept = default;
};

}  // namespace guestlist
