#include "guestlist/redis/shared_filter_keeper.hpp"

#include <algorithm>
#include <utility>

namespace guestlist {
namespace {

constexpr Duration call_timeout = std::chrono::seconds(2);
// Below it a few later keys would fill the filter.
constexpr std::uint64_t least_capacity = 1000;

}  // namespace

SharedFilterKeeper::SharedFilterKeeper(std::shared_ptr<RedisClient> client,
                                       std::shared_ptr<SharedBloomFilter> filter, Source& source,
                                       Options options)
    : client_(std::move(client)),
      filter_(std::move(filter)),
      source_(source),
      options_(std::move(options)),
      thread_([this] { run(); }) {}

SharedFilterKeeper::~SharedFilterKeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SharedFilterKeeper::request_rebuild() {
  const std::lock_guard lock(mutex_);
  asked_by_hand_ = true;
  changed_.notify_all();
}

void SharedFilterKeeper::report_deleted(std::uint64_t keys) {
  const std::lock_guard lock(mutex_);
  deleted_ += keys;
}

void SharedFilterKeeper::report_fpr(double measured) {
  const std::lock_guard lock(mutex_);
  measured_fpr_ = measured;
}

Result<void> SharedFilterKeeper::wait_until_ready(Deadline deadline) {
  std::unique_lock lock(mutex_);
  while (!is_ready_) {
    if (deadline.is_past(clock_.now())) {
      return fail(Errc::deadline_exceeded, "the filter '" + filter_->name() +
                                               "' was not built in time" +
                                               (last_error_.empty() ? "" : ": " + last_error_));
    }
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  return {};
}

void SharedFilterKeeper::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
    }
    const auto reason = look();
    if (reason == RebuildReason::none) {
      sleep();
      continue;
    }
    const auto report = rebuild();
    {
      const std::lock_guard lock(mutex_);
      last_error_ = report ? "" : report.error().message();
      if (report) {
        asked_by_hand_ = false;
        deleted_ = 0;
        measured_fpr_.reset();
      }
    }
    if (options_.on_rebuild) options_.on_rebuild(reason, report);
    if (!report) sleep();
  }
}

RebuildReason SharedFilterKeeper::look() {
  const auto now = clock_.now();
  const auto state = filter_->state(0, Deadline::after(call_timeout, clock_));
  if (!state && state.error().code != Errc::not_found) {
    const std::lock_guard lock(mutex_);
    last_error_ = state.error().message();
    return RebuildReason::none;  // nothing can be built where nobody answers
  }
  condition_.is_there = state && state->live;
  if (condition_.is_there && state->generation != generation_) {
    generation_ = state->generation;
    generation_seen_ = now;
    next_measurement_ = now;
  }
  condition_.age = now - generation_seen_;
  // A check of any key tells whether the answers are trusted, as its callers see it.
  const std::string_view probe[] = {"guestlist"};
  const auto verdict = wait_for<Verdict>([&](const Completion<Verdict>& done) {
    filter_->check(probe, Deadline::after(call_timeout, clock_),
                   [done](std::span<const Verdict> verdicts) { done(verdicts.front()); });
  });
  const auto reason = verdict->reason;
  if (reason == Reason::unreachable || reason == Reason::deadline || reason == Reason::overloaded) {
    return RebuildReason::none;
  }
  condition_.is_trusted = reason == Reason::none;
  if (condition_.is_trusted && now >= next_measurement_) {
    next_measurement_ = now + options_.measure_every;
    if (const auto facts = filter_->inspect(Deadline::after(call_timeout, clock_))) {
      condition_.capacity = facts->capacity;
      condition_.items = facts->estimated_items.value_or(0);
      condition_.asked_fpr = facts->fpr;
      condition_.fpr = facts->fpr_now.value_or(0);
    }
  }
  const std::lock_guard lock(mutex_);
  is_ready_ = condition_.is_trusted;
  changed_.notify_all();
  auto condition = condition_;
  condition.deleted = deleted_;
  if (measured_fpr_) condition.fpr = *measured_fpr_;
  return why_rebuild(condition, options_.triggers, asked_by_hand_);
}

Result<std::uint64_t> SharedFilterKeeper::planned_items() {
  // On a snapshot of its own, since the builder must have begun before the one that fills it.
  const auto snapshot = source_.snapshot();
  if (!snapshot) return fail(snapshot.error());
  const auto count = (*snapshot)->count();
  if (!count) return options_.capacity_without_count;
  return std::max(least_capacity, static_cast<std::uint64_t>(static_cast<double>(*count) *
                                                             (1 + options_.headroom)));
}

Result<SharedBuildReport> SharedFilterKeeper::rebuild() {
  const auto items = planned_items();
  if (!items) return fail(items.error());
  auto build = options_.build;
  build.items = *items;
  build.fpr = options_.fpr;
  auto builder = SharedFilterBuilder::begin(client_, filter_->name(), build);
  if (!builder) return fail(std::move(builder).error());
  const auto snapshot = source_.snapshot();
  if (!snapshot) return fail(snapshot.error());
  std::vector<std::string> keys;
  while (true) {
    if (auto read = (*snapshot)->next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    if (auto inserted = builder->insert(views); !inserted) return fail(std::move(inserted).error());
  }
  return builder->publish();
}

void SharedFilterKeeper::sleep() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, options_.look_every, [this] { return is_ending_; });
}

}  // namespace guestlist
