#pragma once

// What an error of Redis asks the client to do next. Pure functions.

#include <cstdint>
#include <optional>

#include "guestlist/redis/redis_reply.hpp"
#include "guestlist/redis/redis_url.hpp"

namespace guestlist::redis {

enum class NextStep : std::uint8_t {
  accept,      ///< an answer, or an error for the caller
  moved,       ///< the slot lives on another node now
  ask,         ///< the slot is on its way to another node: ask there, this once
  try_again,   ///< the keys of the command are on two nodes at this moment
  send_text,   ///< the server does not know the script
  find_master  ///< this server is a replica
};

struct Redirection {
  NextStep step = NextStep::accept;
  std::uint16_t slot = 0;  ///< moved, ask
  /// moved, ask. An empty host means the host that answered.
  RedisEndpoint to;
};

Redirection redirection_of(const RedisReply& reply);

/// `host:port` as Redis writes it: the host may be empty, and an IPv6 address has no brackets.
std::optional<RedisEndpoint> endpoint_in(std::string_view text);

}  // namespace guestlist::redis
