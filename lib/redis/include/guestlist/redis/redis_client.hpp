#pragma once

// The way to a Redis or Valkey: one server, the master behind Sentinels, or a Cluster. Calls from
// any number of threads share one connection a node, and those that come close together share a
// write.
//
//   auto client = RedisClient::make(*RedisUrl::parse("redis://localhost"));
//   RedisReply reply = (*client)->call(key_slot("greeting"), {"GET", "greeting"}, deadline);
//
// Every call answers by its deadline: with a server's reply, with a server's error, or with a
// failure that says why there is neither. A call never waits for a server that is known to be down;
// it fails at once, and a connection is tried again after a time that doubles up to two seconds.
// MOVED, ASK, TRYAGAIN, NOSCRIPT and READONLY are followed; every other error is the caller's to
// read.
//
// Distinct objects: safe. Shared objects: every function from any thread.
// Completions run on the client's own thread and must not block.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/redis/redis_pipeline.hpp"
#include "guestlist/redis/redis_reply.hpp"
#include "guestlist/redis/redis_url.hpp"

namespace guestlist {

class RedisClient {
 public:
  struct Options {
    Duration connect_timeout = std::chrono::seconds(3);
    /// A server that does not answer a PING for twice as long is given up.
    Duration health_check_interval = std::chrono::seconds(2);
    /// What may wait for replies at once; beyond it calls fail with `overloaded`.
    std::size_t max_outstanding_bytes = std::size_t{64} << 20;
    std::size_t max_outstanding_calls = std::size_t{1} << 16;
  };
  using Done = std::function<void(RedisReplies)>;

  /// Connects on the first call. Errors: `unreadable` for a TLS file that is not there.
  static Result<std::shared_ptr<RedisClient>> make(const RedisUrl& url, const Options& options);
  static Result<std::shared_ptr<RedisClient>> make(const RedisUrl& url) {
    return make(url, Options{});
  }
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;
  /// Calls that wait fail with `cancelled`. May be called from a completion.
  ~RedisClient();

  const RedisUrl& url() const noexcept { return url_; }

  /// One reply a command, in order. Calls `done` exactly once. Errors, as failures of replies:
  /// `unavailable`, `deadline_exceeded`, `overloaded`, `cancelled`; the commands may have been
  /// carried out all the same.
  void execute(RedisPipeline pipeline, Deadline deadline, Done done);
  /// The same, waiting. Requires: not called from a completion.
  RedisReplies execute(RedisPipeline pipeline, Deadline deadline);
  /// One command, waiting.
  RedisReply call(std::uint16_t slot, std::initializer_list<std::string_view> words,
                  Deadline deadline);

 private:
  class Core;
  RedisClient(const RedisUrl& url, const Options& options);

  RedisUrl url_;
  std::shared_ptr<Core> core_;
};

}  // namespace guestlist
