#pragma once

// Asks one question of several servers, one after the other, until one gives a usable answer.
//
// On the loop's thread only.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "session.hpp"

namespace guestlist::redis {

class Discovery : public std::enable_shared_from_this<Discovery> {
 public:
  /// What makes the answer unusable, or nothing.
  using Answered =
      std::function<std::optional<Error>(const RedisReply& reply, const RedisEndpoint& by)>;
  /// Called where none was, with the last reason.
  using Failed = std::function<void(const Error&)>;

  /// How long one server may take to answer.
  static constexpr Duration patience = std::chrono::seconds(1);

  static std::shared_ptr<Discovery> start(EventLoop& loop, std::vector<RedisEndpoint> servers,
                                          SessionOptions options, RedisPipeline question,
                                          Answered answered, Failed failed);
  /// Nothing is called back after it.
  void cancel();

 private:
  Discovery(EventLoop& loop, std::vector<RedisEndpoint> servers, SessionOptions options,
            RedisPipeline question, Answered answered, Failed failed)
      : loop_(loop),
        servers_(std::move(servers)),
        options_(std::move(options)),
        question_(std::move(question)),
        answered_(std::move(answered)),
        failed_(std::move(failed)) {}
  void ask_next();
  void received(std::size_t server, const RedisReply& reply);

  EventLoop& loop_;
  std::vector<RedisEndpoint> servers_;
  SessionOptions options_;
  RedisPipeline question_;
  Answered answered_;
  Failed failed_;
  std::size_t next_ = 0;
  std::shared_ptr<Session> session_;
  std::shared_ptr<void> timer_;
  Error last_error_{Errc::unavailable, "there is no server to ask"};
};

}  // namespace guestlist::redis
