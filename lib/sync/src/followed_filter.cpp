#include "guestlist/sync/followed_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guestlist/guard/warm_up.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

/// How long one wait for changes lasts; what is asked of the follower meanwhile waits for it.
constexpr Duration feed_wait = 100ms;
constexpr Duration first_retry = 50ms;
/// A source that cannot be read is asked again after so long.
constexpr Duration retry_build_after = 2s;
/// Of one exchange with a further membership; it is tried again until it succeeds.
constexpr Duration publish_timeout = 2s;

}  // namespace

Result<std::unique_ptr<FollowedFilter>> FollowedFilter::start(
    FollowOptions options, std::shared_ptr<FollowedSource> source,
    std::vector<Membership*> published) {
  std::optional<SavedFilter> saved;
  if (!options.folder.empty()) {
    auto opened = SavedFilter::open(options.folder, options.name);
    if (!opened) return fail(std::move(opened).error());
    saved = *std::move(opened);
  }
  std::unique_ptr<FollowedFilter> filter(new FollowedFilter(
      std::move(options), std::move(source), std::move(published), std::move(saved)));
  filter->restore();
  filter->follower_ = std::thread([self = filter.get()] { self->follow(); });
  filter->keeper_ = std::thread([self = filter.get()] { self->keep(); });
  return filter;
}

FollowedFilter::FollowedFilter(FollowOptions options, std::shared_ptr<FollowedSource> source,
                               std::vector<Membership*> published, std::optional<SavedFilter> saved)
    : options_(std::move(options)),
      source_(std::move(source)),
      published_(std::move(published)),
      saved_(std::move(saved)) {
  status_.fpr_asked = options_.fpr;
}

FollowedFilter::~FollowedFilter() {
  {
    const std::lock_guard lock(mutex_);
    ending_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
  follower_.join();
  keeper_.join();
}

void FollowedFilter::check(std::span<const std::string_view> keys, Deadline deadline,
                           Verdicts done) {
  const std::uint64_t beginning = beginnings_.load(std::memory_order_acquire);
  const Reason before = reason(clock_.now());
  if (before != Reason::none) {
    const std::vector<Verdict> unknown(keys.size(), Verdict::unknown(before));
    return done(unknown);
  }
  local_.check(keys, deadline, [&](std::span<const Verdict> verdicts) {
    // This thread may have stood still. Meanwhile the lease may have run out, and changes may have
    // been lost: then the bits may be of a generation that was never complete, also where one that
    // is complete has taken its place since.
    Reason after = reason(clock_.now());
    if (beginnings_.load(std::memory_order_acquire) != beginning) after = Reason::incomplete;
    if (after == Reason::none) return done(verdicts);
    const std::vector<Verdict> unknown(keys.size(), Verdict::unknown(after));
    done(unknown);
  });
}

void FollowedFilter::add(std::span<const std::string_view> keys, Deadline deadline,
                         Completion<void> done) {
  std::vector<std::string> owned(keys.begin(), keys.end());
  local_.add(keys, deadline, [](const Result<void>&) {});
  for (Membership* const membership : published_) {
    const auto added = wait_for<void>([&](Completion<void> completion) {
      membership->add(keys, deadline, std::move(completion));
    });
    if (!added) return done(added);
  }
  {
    const std::lock_guard lock(mutex_);
    // So that a restart from the file has them as well: the row may be committed after it.
    if (saved_ && position_) {
      if (const auto kept = saved_->append(owned, *position_); !kept)
        status_.trouble = kept.error().message();
    }
  }
  done({});
}

Reason FollowedFilter::reason(TimePoint now) const noexcept {
  if (!is_complete_.load(std::memory_order_acquire)) {
    return was_complete_.load(std::memory_order_relaxed) ? Reason::incomplete : Reason::building;
  }
  const Duration::rep until = fresh_until_.load(std::memory_order_acquire);
  return now.time_since_epoch().count() < until ? Reason::none : Reason::stale;
}

// The thread that follows.

void FollowedFilter::follow() {
  Duration wait = first_retry;
  while (!is_ending()) {
    const TimePoint began = clock_.now();
    const auto followed = follow_once();
    if (followed) continue;
    set_trouble(followed.error().message());
    log(Severity::warning, followed.error().message());
    if (followed.error().code == Errc::not_found) begin_anew(followed.error());
    if (clock_.now() - began > options_.retry_at_most) wait = first_retry;
    sleep(wait);
    wait = std::min(wait * 2, options_.retry_at_most);
  }
}

/// Follows until the feed is over, with its error, or the filter ends.
Result<void> FollowedFilter::follow_once() {
  std::optional<SourcePosition> from;
  {
    const std::lock_guard lock(mutex_);
    from = position_;
  }
  auto feed = source_->follow(from);
  if (!feed) return fail(std::move(feed).error());
  {
    const std::lock_guard lock(mutex_);
    status_.is_following = true;
    status_.trouble.clear();
    // Whatever was followed before, nothing is known of what came until now: a feed may have broken
    // before it gave a position, and a generation may have been published since.
    if (!from) {
      beginnings_.fetch_add(1, std::memory_order_acq_rel);
      is_complete_.store(false, std::memory_order_release);
    }
  }
  changed_.notify_all();
  log(Severity::good, from ? fmt::format("follows on from {}", from->text()) : "follows from now");
  Changes changes;
  Result<void> result;
  while (result && !is_ending()) {
    result = (*feed)->next(changes, Deadline::after(feed_wait, clock_));
    if (result) result = take(**feed, changes);
  }
  const std::lock_guard lock(mutex_);
  status_.is_following = false;
  return result;
}

Result<void> FollowedFilter::take(ChangeFeed& feed, const Changes& changes) {
  if (auto published = publish_keys(changes.keys); !published) return published;
  bool moved = false;
  {
    const std::lock_guard lock(mutex_);
    moved = !position_ || *position_ != changes.position;
    // Without a generation the file has nothing that could go on from here.
    if (saved_ && (moved || !changes.keys.empty())) {
      if (const auto kept = saved_->append(changes.keys, changes.position); !kept) {
        // Acknowledged all the same: the source's disk is worth more than a quick restart. It will
        // say that the changes are gone.
        status_.trouble = kept.error().message();
      }
      if (saved_->journal_bytes() > options_.max_journal_bytes) save_is_due_ = true;
    }
    position_ = changes.position;
    status_.added += changes.keys.size();
    status_.removed += changes.removed;
    status_.lag = feed.lag();
    if (changes.as_of) as_of_ = changes.as_of;
  }
  if (changes.as_of) {
    const TimePoint until = *changes.as_of + options_.lease;
    fresh_until_.store(until.time_since_epoch().count(), std::memory_order_release);
  }
  if (moved) return feed.acknowledge(changes.position);
  return {};
}

Result<void> FollowedFilter::publish_keys(std::span<const std::string> keys) {
  if (keys.empty()) return {};
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  local_.add(views, Deadline::never(), [](const Result<void>&) {});
  for (Membership* const membership : published_) {
    while (true) {
      const auto added = wait_for<void>([&](Completion<void> done) {
        membership->add(views, Deadline::after(publish_timeout, clock_), std::move(done));
      });
      // A filter that is not there yet is built from a snapshot that comes later.
      if (added || added.error().code == Errc::not_found) break;
      set_trouble(added.error().message());
      if (is_ending()) return fail(added.error());
      sleep(first_retry);
    }
  }
  return {};
}

/// The source cannot say what came since: nothing that is live or being built is complete.
void FollowedFilter::begin_anew(const Error& why) {
  // Both under the lock: a builder that has looked at the one must not set the other after this.
  const std::lock_guard lock(mutex_);
  beginnings_.fetch_add(1, std::memory_order_acq_rel);
  is_complete_.store(false, std::memory_order_release);
  position_.reset();
  // What comes from here on does not go on from what was saved.
  if (saved_) saved_->end_journal();
  as_of_.reset();
  fresh_until_.store(0, std::memory_order_release);
  status_.trouble = why.message();
}

// The thread that builds.

void FollowedFilter::keep() {
  TimePoint next_measurement{};
  TimePoint next_build{};
  while (!is_ending()) {
    const TimePoint now = clock_.now();
    if (now >= next_measurement) {
      measure();
      next_measurement = now + options_.measure_every;
    }
    bool save_is_due = false;
    RebuildReason why = RebuildReason::none;
    {
      const std::lock_guard lock(mutex_);
      // A build can be faster than the first word of the feed.
      save_is_due = position_ && std::exchange(save_is_due_, false);
      if (now >= next_build) why = why_build();
    }
    if (save_is_due) save();
    if (why != RebuildReason::none) {
      build(why);
      next_build = clock_.now() + retry_build_after;
      continue;
    }
    std::unique_lock lock(mutex_);
    if (!is_ending()) changed_.wait_for(lock, 50ms);
  }
  if (is_complete_.load(std::memory_order_acquire)) save();
}

/// Under the lock.
RebuildReason FollowedFilter::why_build() const {
  if (!is_complete_.load(std::memory_order_acquire)) {
    // Only changes that come after following began are sure to come.
    if (!status_.is_following) return RebuildReason::none;
    return status_.generation == 0 ? RebuildReason::missing : RebuildReason::incomplete;
  }
  FilterCondition condition;
  condition.is_there = true;
  condition.is_trusted = true;
  condition.capacity = status_.capacity;
  condition.items = status_.items;
  condition.asked_fpr = status_.fpr_asked;
  condition.fpr = measured_fpr_.value_or(status_.fpr_now);
  condition.deleted = status_.removed;
  condition.age = clock_.now() - built_at_;
  return why_rebuild(condition, options_.triggers, asked_by_hand_);
}

void FollowedFilter::build(RebuildReason why) {
  const std::uint64_t beginning = beginnings_.load(std::memory_order_acquire);
  {
    const std::lock_guard lock(mutex_);
    asked_by_hand_ = false;
    status_.is_building = true;
    status_.building_why = why;
    status_.built_keys = 0;
    status_.keys_to_build.reset();
    status_.removed = 0;
    build_began_ = clock_.now();
  }
  log(Severity::good, fmt::format("builds: {}", name(why)));
  WarmUpOptions options;
  options.fpr = options_.fpr;
  options.headroom = options_.headroom;
  // A feed that had to begin anew did not give everything to what is being built.
  const auto is_whole = [&] {
    return !is_ending() && beginnings_.load(std::memory_order_acquire) == beginning;
  };
  options.goes_on = is_whole;
  options.progress = [&](std::uint64_t done, std::optional<std::uint64_t> total) {
    const std::lock_guard lock(mutex_);
    status_.built_keys = done;
    status_.keys_to_build = total;
  };
  const auto built = warm_up(local_, *source_, options);
  // First, so that nobody is told of answers by a generation that the status does not name.
  if (built) measure();
  {
    const std::lock_guard lock(mutex_);
    status_.is_building = false;
    status_.building_why = RebuildReason::none;
    // Under the lock, so that a beginning that comes now is after it.
    if (built && is_whole()) {
      was_complete_.store(true, std::memory_order_relaxed);
      is_complete_.store(true, std::memory_order_release);
      built_at_ = clock_.now();
      measured_fpr_.reset();
      ++status_.rebuilds;
      save_is_due_ = true;
    } else if (!built) {
      status_.trouble = built.error().message();
    }
  }
  if (!built) return log(Severity::warning, built.error().message());
  log(Severity::good, fmt::format("{} keys in {:.1f} s", built->keys, built->seconds));
}

void FollowedFilter::measure() {
  const LocalMembership::Status measured = local_.status();
  const std::lock_guard lock(mutex_);
  status_.generation = measured.generation;
  status_.capacity = measured.capacity;
  status_.items = measured.items;
  status_.size_bytes = measured.size_bytes;
  status_.fill = measured.fill;
  status_.fpr_now = measured.fpr_now;
}

void FollowedFilter::save() {
  FilterFileInfo info;
  info.origin = options_.origin;
  info.key_type = options_.key_type;
  {
    const std::lock_guard lock(mutex_);
    if (!saved_ || !position_ || !is_complete_.load(std::memory_order_acquire)) return;
    info.position = position_->text();
    if (const auto begun = saved_->begin_save(*position_); !begun) {
      status_.trouble = begun.error().message();
      return;
    }
  }
  auto image = local_.copy_live();
  if (image && !*image) return;
  Result<void> written;
  if (image) {
    info.generation = (*image)->generation;
    written = saved_->finish_save((*image)->filter, info);
  } else {
    written = fail(std::move(image).error());
  }
  if (!written) {
    set_trouble(written.error().message());
    log(Severity::warning, written.error().message());
  }
}

void FollowedFilter::restore() {
  if (!saved_) return;
  auto loaded = saved_->load(options_.origin, options_.key_type);
  if (!loaded) return log(Severity::warning, loaded.error().message() + "; the source is read");
  if (!*loaded) return;
  position_ = (*loaded)->position;
  log(Severity::good, fmt::format("generation {} from its file, complete up to {}",
                                  (*loaded)->generation, position_->text()));
  asked_by_hand_ = (*loaded)->filter.fpr() != options_.fpr;
  local_.adopt(std::move((*loaded)->filter), (*loaded)->generation);
  built_at_ = clock_.now();
  was_complete_.store(true, std::memory_order_relaxed);
  is_complete_.store(true, std::memory_order_release);
  if (const auto begun = saved_->begin_save(*position_); !begun)
    log(Severity::warning, begun.error().message());
  measure();
}

void FollowedFilter::request_rebuild() {
  {
    const std::lock_guard lock(mutex_);
    asked_by_hand_ = true;
  }
  changed_.notify_all();
}

void FollowedFilter::report_fpr(double measured) {
  const std::lock_guard lock(mutex_);
  measured_fpr_ = measured;
}

FollowStatus FollowedFilter::status() const {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  FollowStatus status = status_;
  status.is_complete = is_complete_.load(std::memory_order_acquire);
  status.reason = reason(now);
  status.is_fresh = status.reason != Reason::stale;
  status.position = position_;
  if (as_of_) status.behind = now - *as_of_;
  if (status.is_building)
    status.building_seconds = std::chrono::duration<double>(now - build_began_).count();
  return status;
}

void FollowedFilter::log(Severity severity, const std::string& line) const {
  if (options_.log) options_.log(severity, line);
}

void FollowedFilter::set_trouble(const std::string& line) {
  const std::lock_guard lock(mutex_);
  status_.trouble = line;
}

void FollowedFilter::sleep(Duration span) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, span, [&] { return is_ending(); });
}

}  // namespace guestlist
