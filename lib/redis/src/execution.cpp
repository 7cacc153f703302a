#include "execution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace guestlist::redis {

Execution::Execution(EventLoop& loop, Topology& topology, RedisPipeline pipeline, Deadline deadline,
                     Done done)
    : loop_(loop),
      topology_(topology),
      pipeline_(std::move(pipeline)),
      deadline_(deadline),
      done_(std::move(done)),
      progress_(pipeline_.size()),
      replies_(pipeline_.size()),
      unanswered_(pipeline_.size()) {}

void Execution::start() {
  if (unanswered_ == 0) {
    return finish({});
  }
  if (deadline_.at != TimePoint::max()) {
    const auto left = deadline_.at - SteadyClock().now();
    deadline_timer_ = loop_.after(std::max(left, Duration::zero()), [self = shared_from_this()] {
      self->finish({Errc::deadline_exceeded, "Redis did not answer in the time given"});
    });
  }
  Commands all(pipeline_.size());
  std::iota(all.begin(), all.end(), 0U);
  send(all);
}

void Execution::finish(const Error& why) {
  if (!done_) {
    return;
  }
  for (std::size_t i = 0; i < replies_.size(); ++i) {
    if (!progress_[i].answered) {
      replies_[i] = RedisReply(why);
    }
  }
  deadline_timer_.reset();
  retry_timers_.clear();
  std::exchange(done_, nullptr)(std::move(replies_));
}

void Execution::send(std::span<const std::uint32_t> commands) {
  std::map<std::uint16_t, Commands> by_slot;
  for (const auto command : commands) {
    by_slot[pipeline_.slot(command)].push_back(command);
  }
  // What goes to one node is sent in one piece, in the order of the pipeline.
  struct Grouped {
    std::map<std::shared_ptr<Session>, Commands> by_session;
    std::size_t unlocated;
  };
  const auto grouped = std::make_shared<Grouped>();
  grouped->unlocated = by_slot.size();
  for (auto& [slot, of_slot] : by_slot) {
    topology_.locate(slot, [self = shared_from_this(), grouped, of_slot = std::move(of_slot)](
                               Result<std::shared_ptr<Session>> session) {
      for (const auto command : of_slot) {
        if (session) {
          grouped->by_session[*session].push_back(command);
        } else {
          self->accept(command, RedisReply(session.error()));
        }
      }
      if (--grouped->unlocated > 0) {
        return;
      }
      for (auto& [to, of_session] : grouped->by_session) {
        std::sort(of_session.begin(), of_session.end());
        self->send_to(to, std::move(of_session), {});
      }
    });
  }
}

void Execution::send_to(const std::shared_ptr<Session>& session, Commands commands,
                        Spelling spelling) {
  if (!done_) {
    return;
  }
  spelling.script_text = progress_[commands.front()].script_text;
  const auto kept = std::make_shared<const Commands>(std::move(commands));
  session->execute(pipeline_, *kept, spelling,
                   [self = shared_from_this(), session, kept](auto nodes) {
                     self->received(session, *kept, std::move(nodes));
                   });
}

void Execution::received(const std::shared_ptr<Session>& session, const Commands& commands,
                         Result<std::shared_ptr<const RedisNodes>> nodes) {
  if (!done_) {
    return;
  }
  if (nodes && (*nodes)->begins.size() != commands.size()) {
    nodes = fail(Errc::foreign_format, "the server sent another number of replies than commands");
    session->close();
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    RedisReply reply = nodes ? RedisReply(*nodes, i) : RedisReply(nodes.error());
    const auto redirection = redirection_of(reply);
    if (redirection.step == NextStep::accept || ++progress_[commands[i]].hops > max_hops) {
      accept(commands[i], std::move(reply));
    } else {
      follow(session, commands[i], std::move(reply), redirection);
    }
  }
}

void Execution::follow(const std::shared_ptr<Session>& session, std::uint32_t command,
                       RedisReply reply, const Redirection& redirection) {
  switch (redirection.step) {
    case NextStep::moved:
    case NextStep::ask: {
      auto target = topology_.follow(redirection, session);
      if (!target) {
        return accept(command, RedisReply(std::move(target).error()));
      }
      return send_to(*target, {command}, {redirection.step == NextStep::ask, false});
    }
    case NextStep::send_text:
      if (pipeline_.script(command) == nullptr) {
        return accept(command, std::move(reply));
      }
      progress_[command].script_text = true;
      return send_to(session, {command}, {});
    case NextStep::find_master:
      topology_.demoted(session);
      return later(command);
    case NextStep::try_again:
      return later(command);
    case NextStep::accept:
      break;
  }
  accept(command, std::move(reply));
}

void Execution::later(std::uint32_t command) {
  retry_timers_.push_back(
      loop_.after(try_again_after * progress_[command].hops, [self = shared_from_this(), command] {
        const std::uint32_t one[] = {command};
        self->send(one);
      }));
}

void Execution::accept(std::uint32_t command, RedisReply reply) {
  if (!done_ || std::exchange(progress_[command].answered, true)) {
    return;
  }
  replies_[command] = std::move(reply);
  if (--unanswered_ == 0) {
    finish({});
  }
}

}  // namespace guestlist::redis
