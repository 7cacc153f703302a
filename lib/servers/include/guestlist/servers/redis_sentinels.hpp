#pragma once

// A real master with replicas, watched by real sentinels, and failovers that lose what they would
// lose in production: the writes that the master acknowledged and no replica had received.
//
// Cost: about 3 s to start, about 3 s a failover. A suite of tests shares one.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/redis_server.hpp"

namespace guestlist::servers {

struct RedisSentinelsOptions {
  std::size_t replicas = 1;
  std::size_t sentinels = 3;
  /// A master that is silent for so long is taken for dead.
  std::chrono::milliseconds down_after{1500};
  /// Of the master and its replicas. Requires: no `tls`.
  RedisOptions node = {};
};

/// Distinct objects: safe. Shared objects: one thread at a time.
class RedisSentinels {
 public:
  /// The name under which the sentinels know the master.
  static constexpr const char* master_name = "guestlist";

  /// Returns once the replicas follow and all sentinels know them and each other. Errors: as
  /// `RedisServer::start`.
  static Result<RedisSentinels> start(const RedisSentinelsOptions& options = {});

  std::size_t size() const noexcept { return nodes_.size(); }
  RedisServer& node(std::size_t index) { return nodes_[index]; }
  std::size_t sentinel_count() const noexcept { return sentinels_.size(); }
  RedisServer& sentinel(std::size_t index) { return sentinels_[index]; }
  /// `127.0.0.1:PORT` of every sentinel.
  std::vector<std::string> sentinel_addresses() const;

  /// The node that most of the sentinels name as master, or `size()`.
  std::size_t master();
  /// Its address; empty where the sentinels do not agree.
  std::string master_address();

  /// From here on no write reaches a replica: they stand still and the master has lost them. Until
  /// the next failover they answer nobody.
  void cut_replication();
  /// SIGKILL to the master; waits until the sentinels made a living replica its successor. What the
  /// replicas had not received is lost. Errors: `deadline_exceeded`.
  Result<void> failover();

 private:
  Result<void> form(const RedisSentinelsOptions& options);
  Result<void> follow_master();
  Result<void> wait_until_known();
  std::size_t master_seen_by(RedisServer& sentinel);

  std::vector<RedisServer> nodes_;
  std::vector<RedisServer> sentinels_;
};

}  // namespace guestlist::servers
