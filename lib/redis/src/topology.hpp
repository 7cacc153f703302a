#pragma once

// Where commands go: to the one server, to the master that Sentinels name, to the node of a Cluster
// that serves the slot.
//
// On the loop's thread only.

#include <functional>
#include <memory>

#include "link.hpp"
#include "redirection.hpp"

namespace guestlist::redis {

class Topology {
 public:
  using Located = std::function<void(Result<std::shared_ptr<Session>>)>;

  virtual ~Topology() = default;

  /// The session for a slot; at once where it is known. Errors: `unavailable`.
  virtual void locate(std::uint16_t slot, Located located) = 0;
  /// The session to another node that a redirection named; `from` answered it.
  virtual Result<std::shared_ptr<Session>> follow(const Redirection& redirection,
                                                  const std::shared_ptr<Session>& from) = 0;
  /// The server of this session is a replica, or serves others than it did.
  virtual void demoted(const std::shared_ptr<Session>& session) = 0;
  /// Nothing is called back after it.
  virtual void close() = 0;
};

std::unique_ptr<Topology> make_standalone(EventLoop& loop, const RedisUrl& url,
                                          const SessionOptions& options);
std::unique_ptr<Topology> make_sentinel(EventLoop& loop, const RedisUrl& url,
                                        const SessionOptions& options);
std::unique_ptr<Topology> make_cluster(EventLoop& loop, const RedisUrl& url,
                                       const SessionOptions& options);

}  // namespace guestlist::redis
