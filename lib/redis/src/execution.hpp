#pragma once

// One call of RedisClient::execute on its way: sends each command to where its slot lives, follows
// redirections, and answers once, by the deadline at the latest.
//
// On the loop's thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "event_loop.hpp"
#include "guestlist/redis/redis_pipeline.hpp"
#include "guestlist/redis/redis_reply.hpp"
#include "topology.hpp"

namespace guestlist::redis {

class Execution : public std::enable_shared_from_this<Execution> {
 public:
  using Done = std::function<void(RedisReplies)>;

  /// A command that was sent on so often is given up: two nodes point at each other.
  static constexpr int max_hops = 8;
  static constexpr Duration try_again_after = std::chrono::milliseconds(10);

  Execution(EventLoop& loop, Topology& topology, RedisPipeline pipeline, Deadline deadline,
            Done done);

  void start();
  /// Answers now, with `why` for every command that has no reply yet.
  void finish(const Error& why);

 private:
  using Commands = std::vector<std::uint32_t>;
  struct Progress {
    int hops = 0;
    bool script_text = false;
    bool answered = false;
  };

  void send(std::span<const std::uint32_t> commands);
  void send_to(const std::shared_ptr<Session>& session, Commands commands, Spelling spelling);
  void received(const std::shared_ptr<Session>& session, const Commands& commands,
                Result<std::shared_ptr<const RedisNodes>> nodes);
  void follow(const std::shared_ptr<Session>& session, std::uint32_t command, RedisReply reply,
              const Redirection& redirection);
  void later(std::uint32_t command);
  void accept(std::uint32_t command, RedisReply reply);

  EventLoop& loop_;
  Topology& topology_;
  RedisPipeline pipeline_;
  Deadline deadline_;
  Done done_;
  std::vector<Progress> progress_;
  RedisReplies replies_;
  std::size_t unanswered_;
  std::shared_ptr<void> deadline_timer_;
  std::vector<std::shared_ptr<void>> retry_timers_;
};

}  // namespace guestlist::redis
