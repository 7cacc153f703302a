#include "shard_views.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace guestlist::redis {

struct ShardViews::Reading {
  std::uint32_t shard;
  Deadline deadline;
  SharedFilterState state;
  ServerIdentity server;
  std::uint64_t session;
};

ShardViews::View ShardViews::known(std::uint32_t shard) const {
  const std::lock_guard lock(mutex_);
  return shard < shards_.size() ? shards_[shard].view : nullptr;
}

ShardViews::Shard& ShardViews::at(std::uint32_t shard) {
  if (shards_.size() <= shard) {
    shards_.resize(shard + 1);
  }
  return shards_[shard];
}

void ShardViews::get(std::uint32_t shard, Deadline deadline, Ready ready) {
  View view;
  {
    const std::lock_guard lock(mutex_);
    auto& entry = at(shard);
    view = entry.view;
    if (!view) {
      entry.waiting.push_back({deadline, std::move(ready)});
      if (entry.is_read && entry.read_until.at <= deadline.at) {
        return;
      }
      entry.is_read = true;
      entry.read_until = deadline;
    }
  }
  if (view) {
    return ready(view);
  }
  read_state(shard, deadline);
}

void ShardViews::forget(std::uint32_t shard, const View& view) {
  const std::lock_guard lock(mutex_);
  if (auto& entry = at(shard); entry.view == view) {
    entry.view = nullptr;
  }
}

void ShardViews::read_state(std::uint32_t shard, Deadline deadline) {
  const ShardKeys keys(filter_, shard);
  RedisPipeline pipeline;
  pipeline.add(keys.slot(), {"HGETALL", keys.state()});
  pipeline.add(keys.slot(), {"INFO", "replication"});
  client_->execute(
      std::move(pipeline), deadline, [self = shared_from_this(), shard, deadline](auto replies) {
        auto state = SharedFilterState::parse(replies[0]);
        if (!state) {
          return self->finish(shard, deadline, fail(std::move(state).error()));
        }
        if (!*state) {
          return self->finish(
              shard, deadline,
              fail(Errc::not_found, fmt::format("there is no filter '{}' at {}; create or "
                                                "load it first",
                                                self->filter_, self->client_->url().text())));
        }
        auto server = ServerIdentity::parse(replies[1]);
        if (!server) {
          return self->finish(shard, deadline, fail(std::move(server).error()));
        }
        const auto session =
            replies[0].session() == replies[1].session() ? replies[0].session() : 0;
        self->read_segments(std::make_shared<Reading>(
            Reading{shard, deadline, std::move(**state), std::move(*server), session}));
      });
}

void ShardViews::read_segments(const std::shared_ptr<Reading>& reading) {
  const ShardKeys keys(filter_, reading->shard);
  const auto& state = reading->state;
  RedisPipeline pipeline;
  const auto segments = state.live ? state.live->geometry.segments() : 0;
  for (std::uint64_t i = 0; i < segments; ++i) {
    const auto segment = keys.segment(state.generation, i);
    pipeline.add(keys.slot(), {"GETRANGE", segment, "0", "63"});
    pipeline.add(keys.slot(), {"STRLEN", segment});
  }
  pipeline.add(keys.slot(), {"HGET", keys.state(), "epoch"});
  client_->execute(
      std::move(pipeline), reading->deadline, [self = shared_from_this(), reading](auto replies) {
        const auto epoch = replies.back();
        if (!epoch.is_ok()) {
          return self->finish(reading->shard, reading->deadline, fail(epoch.error()));
        }
        std::vector<RedisReply> headers;
        std::vector<RedisReply> lengths;
        for (std::size_t i = 0; i + 1 < replies.size(); i += 2) {
          headers.push_back(std::move(replies[i]));
          lengths.push_back(std::move(replies[i + 1]));
        }
        // Read while the epoch changed or the connection was another: the view will be found not to
        // hold by the first check that uses it, and is read again.
        const auto session = epoch.session() == reading->session ? reading->session : 0;
        self->finish(reading->shard, reading->deadline,
                     std::make_shared<const ShardView>(
                         make_view(std::move(reading->state), reading->server, session,
                                   reading->shard, headers, lengths)));
      });
}

void ShardViews::finish(std::uint32_t shard, Deadline deadline, const Result<View>& view) {
  std::vector<Waiter> answered;
  std::optional<Deadline> next;
  {
    const std::lock_guard lock(mutex_);
    auto& entry = at(shard);
    if (view) {
      entry.view = *view;
    }
    answered = std::exchange(entry.waiting, {});
    if (!view && view.error().code == Errc::deadline_exceeded) {
      // Those who have more time than the one who read for them go on.
      const auto patient =
          std::partition(answered.begin(), answered.end(),
                         [&](const Waiter& waiter) { return waiter.deadline.at <= deadline.at; });
      entry.waiting.assign(std::make_move_iterator(patient),
                           std::make_move_iterator(answered.end()));
      answered.erase(patient, answered.end());
      for (const auto& waiter : entry.waiting) {
        next = !next || waiter.deadline.at < next->at ? waiter.deadline : *next;
      }
    }
    entry.is_read = next.has_value();
    entry.read_until = next.value_or(Deadline{});
  }
  for (auto& waiter : answered) {
    waiter.ready(view);
  }
  if (next) {
    read_state(shard, *next);
  }
}

}  // namespace guestlist::redis
