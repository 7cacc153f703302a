#pragma once

// Which master of a Cluster serves which slot, as one node told it.
//
// Distinct objects: safe. Shared objects: one thread.

#include <cstdint>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/redis/key_slot.hpp"
#include "guestlist/redis/redis_reply.hpp"
#include "guestlist/redis/redis_url.hpp"

namespace guestlist::redis {

class SlotMap {
 public:
  SlotMap() : owner_(key_slots, nobody) {}

  /// Of the reply to CLUSTER SLOTS. `asked` stands for a node that tells no host of its own.
  /// Errors: `unavailable` for an error reply, `foreign_format` for anything else.
  static Result<SlotMap> parse(const RedisReply& reply, const RedisEndpoint& asked);

  /// nullptr where no node serves the slot. Valid until the map changes.
  const RedisEndpoint* master_of(std::uint16_t slot) const noexcept;
  void move(std::uint16_t slot, const RedisEndpoint& to);
  const std::vector<RedisEndpoint>& nodes() const noexcept { return nodes_; }

 private:
  static constexpr std::uint16_t nobody = 0xFFFF;
  std::uint16_t index_of(const RedisEndpoint& node);

  std::vector<RedisEndpoint> nodes_;
  std::vector<std::uint16_t> owner_;
};

}  // namespace guestlist::redis
