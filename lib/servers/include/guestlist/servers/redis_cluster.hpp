#pragma once

// A real cluster of Redis or Valkey on this machine: masters that share the slots evenly, each with
// its replicas, and what happens to clusters: slots that move while they are read, masters that
// die.
//
// A gate may stand before a node: `CONFIG SET cluster-announce-port` to the gate's port at that
// node, and the others will send clients there.
//
// Cost: about 3 s to start (a new cluster serves after 2 s at the earliest), 10 MiB of memory a
// node. A suite of tests shares one.

#include <cstddef>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/redis_server.hpp"

namespace guestlist::servers {

struct RedisClusterOptions {
  std::size_t masters = 3;
  std::size_t replicas_per_master = 1;
  /// A node that is silent for so long is taken for dead; its replica takes over a second later.
  std::chrono::milliseconds node_timeout{2000};
  /// Of every node. Requires: no `tls`, for each node would have an authority of its own.
  RedisOptions node = {};
};

/// Distinct objects: safe. Shared objects: one thread at a time.
class RedisCluster {
 public:
  /// Returns once every node knows all others, all slots are served and every replica follows its
  /// master. Errors: as `RedisServer::start`.
  static Result<RedisCluster> start(RedisClusterOptions options = {});

  std::size_t size() const noexcept { return nodes_.size(); }
  RedisServer& node(std::size_t index) { return nodes_[index]; }
  /// `127.0.0.1:PORT` of every node, masters first.
  std::vector<std::string> addresses() const;

  std::uint16_t slot_of(const std::string& key);
  /// The living node that serves the key's slot, by its own word, or `size()`.
  std::size_t master_of(const std::string& key);
  /// A living master that does not serve the key's slot. Requires: there is one.
  std::size_t other_master(const std::string& key);
  /// A living replica of the key's master, or `size()`.
  std::size_t replica_of(const std::string& key);
  /// Sends a command of the test's own to the master of `key`.
  RedisReply command(const std::string& key, const std::vector<std::string>& arguments);

  /// Moves the key's slot to the master `target` in three steps, each of which clients can see.
  /// After the first, the old master sends clients on for keys that it lacks (ASK); after the
  /// second it holds none of the slot's keys; after the third it sends clients on for good (MOVED).
  /// Errors: `unavailable` with the server's words.
  Result<void> begin_move(const std::string& key, std::size_t target);
  Result<void> move_keys(const std::string& key, std::size_t target);
  Result<void> finish_move(const std::string& key, std::size_t target);
  /// The three steps.
  Result<void> move_slot(const std::string& key, std::size_t target);

  /// SIGKILL to the key's master, which is returned; `wait_until_served` waits for its successor.
  std::size_t kill_master_of(const std::string& key);
  /// An orderly change: the replica of the key's master takes over and loses nothing. Errors:
  /// `unavailable`, `deadline_exceeded`.
  Result<void> failover(const std::string& key);
  /// Until all living nodes name the same living master for the key's slot, and serve. Errors:
  /// `deadline_exceeded`.
  Result<void> wait_until_served(const std::string& key);

 private:
  Result<void> form(const RedisClusterOptions& options);
  Result<void> wait_until_formed(std::size_t replicas_per_master);
  /// Every master that lives takes `target` for the slot's; the new owner first.
  Result<void> assign(std::uint16_t slot, std::size_t target);
  std::size_t first_living();
  bool is_master(std::size_t index);

  std::vector<RedisServer> nodes_;
  std::vector<std::string> ids_;
};

}  // namespace guestlist::servers
