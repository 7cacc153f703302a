#pragma once

// One connection to one server, from its first packet to its last. It is never opened again:
// whoever wants to go on starts a new session, and so knows that another server, or the same one
// with other data, may be answering.
//
// The shell around Boost.Redis. On the loop's thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "event_loop.hpp"
#include "guestlist/redis/redis_pipeline.hpp"
#include "guestlist/redis/redis_reply.hpp"
#include "guestlist/redis/redis_url.hpp"

namespace guestlist::redis {

struct SessionOptions {
  std::string user;
  std::string password;
  int database = 0;
  bool tls = false;
  /// PEM files; empty: the system's authorities, no client certificate.
  std::string authority_file;
  std::string certificate_file;
  std::string key_file;
  Duration connect_timeout = std::chrono::seconds(3);
  /// A server that does not answer a PING for twice as long is given up.
  Duration health_check_interval = std::chrono::seconds(2);
};

/// How commands are spelt on the wire.
struct Spelling {
  bool asking = false;       ///< an ASKING before each: the slot is being moved to this node
  bool script_text = false;  ///< scripts by their text instead of their digest

  friend auto operator<=>(const Spelling&, const Spelling&) = default;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  /// The sentence says where and why.
  using Ended = std::function<void(const Error&)>;
  /// One reply for each command that was sent, in order, or the failure of them all.
  using Done = std::function<void(Result<std::shared_ptr<const RedisNodes>>)>;

  /// Commands may be sent at once; they wait for the connection. `ended` is called once, after
  /// every command was answered or failed.
  static std::shared_ptr<Session> start(EventLoop& loop, const RedisEndpoint& endpoint,
                                        const SessionOptions& options, Ended ended);
  virtual ~Session() = default;

  /// Unlike that of every other session of the process; not 0.
  virtual std::uint64_t id() const noexcept = 0;
  virtual bool is_over() const noexcept = 0;
  /// The commands named by their index. Calls that come close together share a write.
  virtual void execute(const RedisPipeline& pipeline, std::span<const std::uint32_t> commands,
                       Spelling spelling, Done done) = 0;
  /// What is not answered yet fails.
  virtual void close() = 0;
};

}  // namespace guestlist::redis
