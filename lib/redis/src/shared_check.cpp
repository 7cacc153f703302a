#include "shared_check.hpp"

#include <fmt/format.h>

#include <atomic>
#include <numeric>
#include <utility>

namespace guestlist::redis {
namespace {

/// Why there is no view.
Reason reason_for(const Error& error) {
  return error.code == Errc::not_found ? Reason::missing : reason_of(RedisReply(error));
}

}  // namespace

SharedCheck::SharedCheck(std::shared_ptr<ShardViews> views, std::span<const std::string_view> keys,
                         Deadline deadline, Done done)
    : views_(std::move(views)), deadline_(deadline), done_(std::move(done)) {
  ends_.reserve(keys.size() + 1);
  ends_.push_back(0);
  for (const auto key : keys) {
    bytes_ += key;
    ends_.push_back(bytes_.size());
  }
  verdicts_.resize(keys.size());
}

void SharedCheck::start() {
  if (verdicts_.empty()) {
    return done_({});
  }
  pending_.resize(verdicts_.size());
  std::iota(pending_.begin(), pending_.end(), 0U);
  begin();
}

void SharedCheck::begin() {
  // Shard 0 knows how many there are.
  views_->get(0, deadline_, [self = shared_from_this()](const Result<ShardViews::View>& view) {
    if (view) {
      self->assign_shards(*view);
    } else {
      self->give_up(Verdict::unknown(reason_for(view.error())));
    }
  });
}

void SharedCheck::assign_shards(ShardViews::View first) {
  first_ = std::move(first);
  std::vector<Part> all(first_->state.shards);
  for (const auto index : std::exchange(pending_, {})) {
    all[shard_of(key(index), first_->state.shard_secret, first_->state.shards)].keys.push_back(
        index);
  }
  std::vector<Part> parts;
  for (std::uint32_t shard = 0; shard < all.size(); ++shard) {
    if (!all[shard].keys.empty()) {
      all[shard].shard = shard;
      parts.push_back(std::move(all[shard]));
    }
  }
  look_up(std::move(parts));
}

void SharedCheck::look_up(std::vector<Part> parts) {
  struct Lookup {
    std::vector<Part> parts;
    std::atomic<std::size_t> left;
  };
  const auto lookup = std::make_shared<Lookup>();
  lookup->parts = std::move(parts);
  lookup->left = lookup->parts.size();
  // The count keeps `parts` from being taken before the last view is in it.
  const auto count = lookup->parts.size();
  for (std::size_t i = 0; i < count; ++i) {
    views_->get(lookup->parts[i].shard, deadline_,
                [self = shared_from_this(), lookup, i](const Result<ShardViews::View>& view) {
                  auto& part = lookup->parts[i];
                  if (view) {
                    part.view = *view;
                  } else {
                    self->answer(part, Verdict::unknown(reason_for(view.error())));
                  }
                  if (lookup->left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    self->ask(std::move(lookup->parts));
                  }
                });
  }
}

void SharedCheck::ask(std::vector<Part> parts) {
  std::erase_if(parts, [](const Part& part) { return !part.view; });
  RedisPipeline pipeline;
  for (auto& part : parts) {
    const ShardKeys keys(views_->filter(), part.shard);
    part.first_reply = pipeline.size();
    part.bits.clear();
    if (part.view->distrust == Reason::none) {
      const auto& parameters = *part.view->state.live;
      for (const auto index : part.keys) {
        const auto& bits =
            part.bits.emplace_back(line_bits(parameters, parameters.hasher(key(index))));
        pipeline.add(
            keys.slot(),
            {"GETRANGE", keys.segment(part.view->state.generation, bits.segment),
             fmt::format_int(bits.offset).c_str(), fmt::format_int(bits.offset + 63).c_str()});
      }
    }
    pipeline.add(keys.slot(), {"HGET", keys.state(), "epoch"});
    pipeline.add(keys.slot(), {"INFO", "replication"});
  }
  if (parts.empty()) {
    return done_(std::move(verdicts_));
  }
  auto kept = std::make_shared<std::vector<Part>>(std::move(parts));
  views_->client()->execute(std::move(pipeline), deadline_,
                            [self = shared_from_this(), kept](const RedisReplies& replies) {
                              self->answered(*kept, replies);
                            });
}

void SharedCheck::answered(const std::vector<Part>& parts, const RedisReplies& replies) {
  for (const auto& part : parts) {
    const auto lines = std::span(replies).subspan(part.first_reply, part.bits.size());
    const auto closing = part.first_reply + part.bits.size();
    const auto check = judge(*part.view, *first_, lines, replies[closing], replies[closing + 1]);
    if (check.outcome == ViewCheck::Outcome::holds) {
      for (std::size_t i = 0; i < part.keys.size(); ++i) {
        verdicts_[part.keys[i]] = part.bits.empty()
                                      ? Verdict::unknown(part.view->distrust)
                                      : verdict_of(*part.view, part.bits[i], lines[i].text());
      }
      continue;
    }
    answer(part, Verdict::unknown(check.reason));
    if (check.outcome == ViewCheck::Outcome::refresh) {
      views_->forget(part.shard, part.view);
      views_->forget(0, first_);
      pending_.insert(pending_.end(), part.keys.begin(), part.keys.end());
    }
  }
  if (pending_.empty() || std::exchange(asked_twice_, true)) {
    return done_(std::move(verdicts_));
  }
  begin();
}

void SharedCheck::answer(const Part& part, Verdict verdict) {
  for (const auto index : part.keys) {
    verdicts_[index] = verdict;
  }
}

void SharedCheck::give_up(Verdict verdict) {
  for (const auto index : pending_) {
    verdicts_[index] = verdict;
  }
  done_(std::move(verdicts_));
}

}  // namespace guestlist::redis
