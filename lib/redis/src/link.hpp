#pragma once

// Keeps a way to one server: the session that is open, or the reason why there is none and the
// moment from which another may be opened. A server that is down fails calls at once instead of
// making each of them wait.
//
// On the loop's thread only.

#include <functional>
#include <memory>

#include "backoff.hpp"
#include "session.hpp"

namespace guestlist::redis {

class Link {
 public:
  Link(EventLoop& loop, RedisEndpoint endpoint, SessionOptions options)
      : loop_(loop), endpoint_(std::move(endpoint)), options_(std::move(options)) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { close(); }

  const RedisEndpoint& endpoint() const noexcept { return endpoint_; }
  /// An open session, or one that is opening. Errors: `unavailable`, with why the last one ended.
  Result<std::shared_ptr<Session>> session();
  /// Ends the session; the next call opens another at once.
  void close();

 private:
  /// What a session's end changes here; a session may outlive its link.
  struct State {
    Backoff backoff;
    Error last_error{Errc::unavailable, {}};
    std::shared_ptr<Session> session;
  };

  EventLoop& loop_;
  RedisEndpoint endpoint_;
  SessionOptions options_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace guestlist::redis
