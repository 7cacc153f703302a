#include "shared_add.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "shared_filter_scripts.hpp"

namespace guestlist::redis {

SharedAdd::SharedAdd(std::shared_ptr<ShardViews> views, std::span<const std::string_view> keys,
                     std::uint64_t log_entries, Deadline deadline, Completion<std::uint64_t> done)
    : views_(std::move(views)),
      keys_(keys.begin(), keys.end()),
      log_entries_(log_entries),
      deadline_(deadline),
      done_(std::move(done)) {}

void SharedAdd::start() {
  if (keys_.empty()) {
    return done_(std::uint64_t{0});
  }
  pending_.assign(keys_.begin(), keys_.end());
  begin();
}

void SharedAdd::begin() {
  views_->get(0, deadline_, [self = shared_from_this()](const Result<ShardViews::View>& view) {
    if (view) {
      self->assign_shards(*view);
    } else {
      self->done_(fail(view.error()));
    }
  });
}

void SharedAdd::assign_shards(ShardViews::View first) {
  first_ = std::move(first);
  std::vector<Part> open(first_->state.shards);
  std::vector<Part> parts;
  const auto close = [&](std::uint32_t shard) {
    open[shard].shard = shard;
    parts.push_back(std::exchange(open[shard], {}));
  };
  for (const auto key : std::exchange(pending_, {})) {
    const auto shard = shard_of(key, first_->state.shard_secret, first_->state.shards);
    open[shard].keys.push_back(key);
    if (open[shard].keys.size() == keys_per_script) {
      close(shard);
    }
  }
  for (std::uint32_t shard = 0; shard < open.size(); ++shard) {
    if (!open[shard].keys.empty()) {
      close(shard);
    }
  }
  look_up(std::move(parts));
}

void SharedAdd::look_up(std::vector<Part> parts) {
  struct Lookup {
    std::vector<Part> parts;
    std::atomic<std::size_t> left;
    std::mutex mutex;
    std::optional<Error> error;
  };
  const auto lookup = std::make_shared<Lookup>();
  lookup->parts = std::move(parts);
  lookup->left = lookup->parts.size();
  const auto count = lookup->parts.size();
  for (std::size_t i = 0; i < count; ++i) {
    views_->get(lookup->parts[i].shard, deadline_,
                [self = shared_from_this(), lookup, i](const Result<ShardViews::View>& view) {
                  if (view) {
                    lookup->parts[i].view = *view;
                  } else {
                    const std::lock_guard lock(lookup->mutex);
                    lookup->error = view.error();
                  }
                  if (lookup->left.fetch_sub(1, std::memory_order_acq_rel) != 1) {
                    return;
                  }
                  if (lookup->error) {
                    self->failed(std::move(*lookup->error));
                    std::erase_if(lookup->parts, [](const Part& part) { return !part.view; });
                  }
                  self->send(std::move(lookup->parts));
                });
  }
}

void SharedAdd::append_script(RedisPipeline& pipeline, const Part& part, const std::string& filter,
                              std::uint64_t log_entries) {
  const auto& state = part.view->state;
  const ShardKeys names(filter, part.shard);
  std::vector<std::string> script_keys = {names.state(), names.log()};
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> known_segments;
  std::vector<std::string> lengths;
  std::vector<std::string> lines;
  std::vector<std::string_view> line_words;
  const auto add_line = [&](std::uint64_t generation, const GenerationParameters& parameters,
                            std::string_view key) {
    const auto bits = line_bits(parameters, parameters.hasher(key));
    const auto [segment, is_new] =
        known_segments.emplace(std::pair(generation, bits.segment), script_keys.size() + 1);
    if (is_new) {
      script_keys.push_back(names.segment(generation, bits.segment));
      lengths.push_back(fmt::format("{}", parameters.geometry.segment_bytes(bits.segment)));
    }
    lines.push_back(fmt::format("{}", segment->second));
    lines.push_back(fmt::format("{}", bits.offset));
    lines.emplace_back(bits.mask_view());
  };
  // Those of the live generation first, for they count as added; while the first is being built
  // there are only those of the next.
  if (state.live) {
    for (const auto key : part.keys) {
      add_line(state.generation, *state.live, key);
    }
  }
  if (state.next) {
    for (const auto key : part.keys) {
      add_line(state.building, *state.next, key);
    }
  }
  const auto kept = fmt::format("{}", log_entries);
  const auto packed = pack_keys(part.keys);
  const auto counted = fmt::format("{}", part.keys.size());
  std::vector<std::string_view> arguments = {state.epoch, kept, packed, counted};
  arguments.insert(arguments.end(), lengths.begin(), lengths.end());
  arguments.insert(arguments.end(), lines.begin(), lines.end());
  const std::vector<std::string_view> key_views(script_keys.begin(), script_keys.end());
  pipeline.add_script(names.slot(), add_script(), key_views, arguments);
}

void SharedAdd::send(std::vector<Part> parts) {
  for (const auto& part : parts) {
    if (!share_alike(*part.view, *first_)) {
      again(part);
    }
  }
  std::erase_if(parts, [&](const Part& part) { return !share_alike(*part.view, *first_); });
  RedisPipeline pipeline;
  for (const auto& part : parts) {
    append_script(pipeline, part, views_->filter(), log_entries_);
  }
  if (parts.empty()) {
    return finish_or_repeat();
  }
  auto kept = std::make_shared<std::vector<Part>>(std::move(parts));
  views_->client()->execute(std::move(pipeline), deadline_,
                            [self = shared_from_this(), kept](const RedisReplies& replies) {
                              self->answered(std::move(*kept), replies);
                            });
}

void SharedAdd::answered(const std::vector<Part>& parts, const RedisReplies& replies) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& reply = replies[i];
    const auto outcome = reply.size() > 0 ? reply[0].integer().value_or(-1) : -1;
    if (outcome == 1) {
      changed_ += static_cast<std::uint64_t>(reply[1].integer().value_or(0));
    } else if (outcome == 0) {
      again(parts[i]);
    } else {
      views_->forget(parts[i].shard, parts[i].view);
      failed(reply.is_ok()
                 ? Error{Errc::corrupt,
                         fmt::format("the filter '{}' in Redis has lost its segment {}; "
                                     "load it again",
                                     views_->filter(), reply.size() > 1 ? reply[1].text() : "")}
                 : reply.error());
    }
  }
  finish_or_repeat();
}

void SharedAdd::again(const Part& part) {
  views_->forget(part.shard, part.view);
  views_->forget(0, first_);
  pending_.insert(pending_.end(), part.keys.begin(), part.keys.end());
}

void SharedAdd::failed(Error error) {
  if (!error_) {
    error_ = std::move(error);
  }
}

void SharedAdd::finish_or_repeat() {
  if (!pending_.empty() && !error_ && ++rounds_ > max_rounds) {
    failed({Errc::unavailable, fmt::format("the filter '{}' in Redis changes its state faster than "
                                           "keys can be added",
                                           views_->filter())});
  }
  if (error_) {
    return done_(fail(std::move(*error_)));
  }
  if (pending_.empty()) {
    return done_(changed_);
  }
  begin();
}

}  // namespace guestlist::redis
