#pragma once

// What this process knows of a shard: the parameters under which an epoch's answers are read, and
// whether they may be trusted. Immutable once made; a pure judgement of replies.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "guestlist/base/verdict.hpp"
#include "guestlist/redis/shared_filter_layout.hpp"
#include "guestlist/redis/shared_filter_state.hpp"

namespace guestlist::redis {

struct ShardView {
  SharedFilterState state;
  ServerIdentity server;
  /// The connection on which the state, the server and the segments were read, all the same one; 0
  /// where it was not, or an answer was missing: such a view holds for nobody.
  std::uint64_t session = 0;
  /// Why nothing that this shard says can be `absent`; `none` where it can.
  Reason distrust = Reason::missing;
};

/// Whether the answers of Redis show that the view still holds, and what to say if not.
struct ViewCheck {
  enum class Outcome : std::uint8_t { holds, refresh, failed };
  Outcome outcome = Outcome::failed;
  Reason reason = Reason::missing;
};

/// Whether keys fall to the same shards by both.
bool share_alike(const ShardView& a, const ShardView& b);

/// `first`: by which the keys were assigned. `lines`: the replies to the GETRANGEs. `epoch`: to
/// HGET state epoch. `server`: to INFO replication. A server that became a replica and a master
/// again may have lost writes meanwhile, and its connections stay open; its replication id changes.
ViewCheck judge(const ShardView& view, const ShardView& first, std::span<const RedisReply> lines,
                const RedisReply& epoch, const RedisReply& server);

/// For a reply that is no answer.
Reason reason_of(const RedisReply& reply);

/// The verdict on one key, whose line is whole.
Verdict verdict_of(const ShardView& view, const LineBits& bits, std::string_view line);

/// The view that a state, the server's identity and the segments' headers and lengths allow.
/// `headers` and `lengths`: one reply each for every segment of the live generation.
ShardView make_view(SharedFilterState state, const ServerIdentity& server, std::uint64_t session,
                    std::uint32_t shard, std::span<const RedisReply> headers,
                    std::span<const RedisReply> lengths);

}  // namespace guestlist::redis
