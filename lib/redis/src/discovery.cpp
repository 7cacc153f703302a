#include "discovery.hpp"

#include <array>

namespace guestlist::redis {

std::shared_ptr<Discovery> Discovery::start(EventLoop& loop, std::vector<RedisEndpoint> servers,
                                            SessionOptions options, RedisPipeline question,
                                            Answered answered, Failed failed) {
  std::shared_ptr<Discovery> discovery(new Discovery(loop, std::move(servers), std::move(options),
                                                     std::move(question), std::move(answered),
                                                     std::move(failed)));
  discovery->ask_next();
  return discovery;
}

void Discovery::cancel() {
  answered_ = nullptr;
  failed_ = nullptr;
  timer_.reset();
  if (session_) {
    session_->close();
  }
}

void Discovery::ask_next() {
  if (!failed_) {
    return;
  }
  if (next_ == servers_.size()) {
    return std::exchange(failed_, nullptr)(last_error_);
  }
  const auto server = next_++;
  session_ = Session::start(loop_, servers_[server], options_, [](const Error&) {});
  static constexpr std::array<std::uint32_t, 1> first = {0};
  session_->execute(question_, first, {}, [self = shared_from_this(), server](auto nodes) {
    self->received(server,
                   nodes ? RedisReply(std::move(*nodes), 0) : RedisReply(std::move(nodes).error()));
  });
  timer_ = loop_.after(patience, [self = weak_from_this(), server] {
    if (const auto alive = self.lock()) {
      alive->received(
          server, RedisReply(Error{Errc::deadline_exceeded,
                                   alive->servers_[server].text() + " did not answer in time"}));
    }
  });
}

void Discovery::received(std::size_t server, const RedisReply& reply) {
  if (server + 1 != next_ || !answered_) {
    return;  // a late answer of a server that we went on from
  }
  timer_.reset();
  session_->close();
  if (auto refusal = answered_(reply, servers_[server])) {
    last_error_ = std::move(*refusal);
    return ask_next();
  }
  answered_ = nullptr;
  failed_ = nullptr;
}

}  // namespace guestlist::redis
