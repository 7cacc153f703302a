#pragma once

// Where a Redis or Valkey is and how to log in, as one line of text:
//
//   redis://[user[:password]@]host[:port][/db]                one server
//   rediss://…                                                the same over TLS
//   redis+cluster://[user[:password]@]host:port,host:port     a Cluster, from any of its nodes
//   redis+sentinel://[user[:password]@]host:port,…/MASTER[/db]  the master that Sentinels name
//
// `rediss+cluster` and `rediss+sentinel` are the same over TLS. Parameters after `?` are kept for
// whoever reads the URL; of them this module reads `ca`, `cert`, `key` (PEM files for TLS). User,
// password, master and parameters may be percent-encoded. An IPv6 address stands in brackets.
//
// Pure functions.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"

namespace guestlist {

struct RedisEndpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;

  /// `host:port`, an IPv6 address in brackets.
  std::string text() const;
  friend auto operator<=>(const RedisEndpoint&, const RedisEndpoint&) = default;
};

enum class RedisTopology : std::uint8_t { standalone, cluster, sentinel };

struct RedisUrl {
  RedisTopology topology = RedisTopology::standalone;
  /// The server; the nodes from which a Cluster is discovered; the Sentinels. Never empty.
  std::vector<RedisEndpoint> endpoints;
  std::string user;
  std::string password;
  /// Sentinel only: the name of the master.
  std::string master;
  int database = 0;
  bool tls = false;
  std::map<std::string, std::string, std::less<>> parameters;

  /// Errors: `invalid_argument`, with the part that is wrong and the form that is right. The
  /// password is in no message.
  static Result<RedisUrl> parse(std::string_view text);

  /// For messages: scheme and endpoints, without user and password.
  std::string text() const;
  /// The parameter's value, or an empty string.
  std::string_view parameter(std::string_view name) const;
};

/// Whether `text` begins like a RedisUrl rather than like a path.
bool is_redis_url(std::string_view text) noexcept;

}  // namespace guestlist
