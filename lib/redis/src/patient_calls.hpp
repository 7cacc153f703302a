#pragma once

// Blocking exchanges of long work: what fails because the server is away, slow or loading is tried
// again for a while; what the server refuses is returned at once.

#include <thread>
#include <utility>

#include "guestlist/redis/redis_client.hpp"

namespace guestlist::redis {

class PatientCalls {
 public:
  static constexpr Duration pause = std::chrono::milliseconds(100);

  PatientCalls(RedisClient& client, Duration call_timeout, Duration patience) noexcept
      : client_(&client), call_timeout_(call_timeout), patience_(patience) {}

  /// Errors: the first failed command's, where trying again did not help.
  Result<RedisReplies> execute(const RedisPipeline& pipeline) const {
    const auto give_up = clock_.now() + patience_;
    while (true) {
      auto replies = client_->execute(pipeline, Deadline::after(call_timeout_, clock_));
      const auto* failure = first_failure(replies);
      if (failure == nullptr) {
        return replies;
      }
      if (!is_passing(*failure) || clock_.now() >= give_up) {
        return fail(failure->error());
      }
      std::this_thread::sleep_for(pause);
    }
  }

  Result<RedisReply> call(std::uint16_t slot, std::initializer_list<std::string_view> words) const {
    RedisPipeline pipeline;
    pipeline.add(slot, words);
    return first_of(execute(pipeline));
  }

  Result<RedisReply> script(std::uint16_t slot, const RedisScript& script,
                            std::span<const std::string_view> keys,
                            std::span<const std::string_view> arguments) const {
    RedisPipeline pipeline;
    pipeline.add_script(slot, script, keys, arguments);
    return first_of(execute(pipeline));
  }

 private:
  static const RedisReply* first_failure(const RedisReplies& replies) {
    for (const auto& reply : replies) {
      if (!reply.is_ok()) {
        return &reply;
      }
    }
    return nullptr;
  }

  static bool is_passing(const RedisReply& reply) {
    const auto code = reply.error_code();
    return reply.type() == RedisType::failure || code == "LOADING" || code == "CLUSTERDOWN" ||
           code == "MASTERDOWN" || code == "READONLY" || code == "TRYAGAIN" || code == "BUSY";
  }

  static Result<RedisReply> first_of(Result<RedisReplies> replies) {
    if (!replies) {
      return fail(std::move(replies).error());
    }
    return std::move(replies->front());
  }

  RedisClient* client_;
  SteadyClock clock_;
  Duration call_timeout_;
  Duration patience_;
};

}  // namespace guestlist::redis
