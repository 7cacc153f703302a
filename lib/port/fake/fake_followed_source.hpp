#pragma once

// A table in memory that can be followed: rows, and the log of their changes. For tests of whoever
// follows: changes can be held back, history lost, the connection cut, and a commit can wait for
// the follower as PostgreSQL's does for a synchronous standby.
//
// Distinct objects: safe. Shared objects: safe; must outlive its feeds.

#include <condition_variable>
#include <set>

#include "fake_source.hpp"
#include "guestlist/port/change_feed.hpp"

namespace guestlist::fake {

class FakeFollowedSource final : public FollowedSource {
 public:
  static constexpr std::size_t portion = 1000;

  explicit FakeFollowedSource(const Clock& clock = steady()) : clock_(clock) {}

  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override {
    rows.load(key, deadline, std::move(done));
  }
  Result<std::unique_ptr<Snapshot>> snapshot() override {
    std::unique_lock lock(mutex_);
    const auto all_given_is_visible = [this, given = given_] {
      return unseen_.empty() || *unseen_.begin() > given;
    };
    if (!changed_.wait_for(lock, std::chrono::seconds(30), all_given_is_visible))
      return fail(Errc::unavailable, "a commit that the feed gave does not become visible");
    return rows.snapshot();
  }

  Result<std::unique_ptr<ChangeFeed>> follow(
      const std::optional<SourcePosition>& position) override {
    if (const auto before = following.failure_before()) return fail(*before);
    const std::lock_guard lock(mutex_);
    if (feeding_ != 0) return fail(Errc::overloaded, "another feed follows");
    const std::uint64_t from = position ? position->offset : log_.size();
    if (position && (position->origin != origin() || from > log_.size() || from < kept_from_))
      return fail(Errc::not_found, "the changes from there are gone, or of another source");
    acknowledged_ = std::max(acknowledged_, from);
    // What is released by that and not visible yet comes by no feed: a snapshot waits for it.
    given_ = std::max(given_, from);
    feeding_ = ++feeds_;
    return std::unique_ptr<ChangeFeed>(new Feed(*this, feeding_, from));
  }

  Result<SourcePosition> end(Deadline) override {
    if (const auto before = ends.failure_before()) return fail(*before);
    const std::lock_guard lock(mutex_);
    return SourcePosition{origin(), log_.size()};
  }
  std::vector<Finding> examine(Deadline) override {
    return {{Severity::good, "a table in memory can be followed", ""}};
  }
  Result<void> forget() override {
    const std::lock_guard lock(mutex_);
    if (feeding_ != 0) return fail(Errc::overloaded, "a feed follows");
    lose_history();
    return {};
  }

  void commit(const std::string& key, const std::string& value) {
    append({key, false}, [&] { rows.commit(key, value); });
  }
  void remove(const std::string& key) {
    append({key, true}, [&] { rows.remove(key); });
  }

  /// From now on a commit is in the log first, and returns and can be read when it was
  /// acknowledged.
  void commit_synchronously() { is_synchronous_ = true; }
  /// From now on the feed lags: what is committed comes after `release_changes`.
  void hold_changes() {
    const std::lock_guard lock(mutex_);
    held_at_ = log_.size();
  }
  void release_changes() {
    const std::lock_guard lock(mutex_);
    held_at_.reset();
    changed_.notify_all();
  }
  /// The feed that is open ends with `unavailable`.
  void cut() { end_feed(); }
  /// What was committed so far cannot be followed any more: a slot that is lost.
  void lose_changes() {
    const std::lock_guard lock(mutex_);
    lose_history();
  }
  /// Another server stands in its place, with the same rows.
  void replace() {
    const std::lock_guard lock(mutex_);
    ++server_;
    lose_history();
  }
  std::uint64_t acknowledged() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_;
  }

  FakeSource rows;
  Gate following;
  Gate feeding;
  Gate acknowledging;
  Gate ends;

 private:
  struct Change {
    std::string key;
    bool is_removal;
  };

  class Feed final : public ChangeFeed {
   public:
    Feed(FakeFollowedSource& source, std::uint64_t number, std::uint64_t at)
        : source_(source), number_(number), at_(at) {}
    ~Feed() override { source_.close(number_); }
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    Result<void> next(Changes& changes, Deadline deadline) override {
      changes.keys.clear();
      changes.removed = 0;
      if (const auto before = source_.feeding.failure_before()) return fail(*before);
      return source_.read(number_, at_, changes, deadline);
    }
    Result<void> acknowledge(const SourcePosition& position) override {
      if (const auto before = source_.acknowledging.failure_before()) return fail(*before);
      return source_.acknowledge(number_, position);
    }
    FeedLag lag() const override { return source_.lag(at_); }

   private:
    FakeFollowedSource& source_;
    const std::uint64_t number_;
    std::uint64_t at_;
  };

  static const Clock& steady() {
    static const SteadyClock clock;
    return clock;
  }
  std::string origin() const { return "fake/" + std::to_string(server_); }

  template <class Apply>
  void append(Change change, Apply apply) {
    std::unique_lock lock(mutex_);
    if (!is_synchronous_) apply();
    log_.push_back(std::move(change));
    const std::uint64_t own = log_.size();
    changed_.notify_all();
    if (!is_synchronous_) return;
    unseen_.insert(own);
    changed_.wait(lock, [&] { return acknowledged_ >= own; });
    apply();
    unseen_.erase(own);
    changed_.notify_all();
  }

  void lose_history() {
    kept_from_ = log_.size() + 1;
    lost_ = feeding_;
    log_.push_back({"", true});
    changed_.notify_all();
  }
  void end_feed() {
    const std::lock_guard lock(mutex_);
    cut_ = feeding_;
    changed_.notify_all();
  }
  void close(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (feeding_ == number) feeding_ = 0;
  }
  Result<void> still_followed(std::uint64_t number) const {
    if (lost_ == number) return fail(Errc::not_found, "the changes are gone");
    if (cut_ == number) return fail(Errc::unavailable, "the connection is lost");
    return {};
  }

  Result<void> read(std::uint64_t number, std::uint64_t& at, Changes& changes, Deadline deadline) {
    std::unique_lock lock(mutex_);
    const auto end = [&] { return held_at_ ? std::min(*held_at_, log_.size()) : log_.size(); };
    // By the machine's clock: a ManualClock does not wake whoever waits.
    const TimePoint limit = std::min(deadline.at, SteadyClock().now() + std::chrono::hours(1));
    changed_.wait_until(lock, limit,
                        [&] { return end() > at || lost_ == number || cut_ == number; });
    if (auto followed = still_followed(number); !followed) return followed;
    while (at < end() && changes.keys.size() < portion) {
      const Change& change = log_[at++];
      if (change.is_removal) {
        ++changes.removed;
      } else {
        changes.keys.push_back(change.key);
      }
    }
    given_ = std::max(given_, at);
    changes.position = {origin(), at};
    changes.as_of = at == log_.size() ? std::optional(clock_.now()) : std::nullopt;
    return {};
  }
  Result<void> acknowledge(std::uint64_t number, const SourcePosition& position) {
    const std::lock_guard lock(mutex_);
    if (auto followed = still_followed(number); !followed) return followed;
    if (position.origin == origin()) acknowledged_ = std::max(acknowledged_, position.offset);
    kept_from_ = std::max(kept_from_, acknowledged_);
    changed_.notify_all();
    return {};
  }
  FeedLag lag(std::uint64_t at) const {
    const std::lock_guard lock(mutex_);
    return {log_.size() - std::min<std::uint64_t>(acknowledged_, log_.size()), log_.size() - at};
  }

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Change> log_;
  std::uint64_t server_ = 1;
  std::uint64_t kept_from_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t given_ = 0;
  /// Commits that wait to be acknowledged.
  std::set<std::uint64_t> unseen_;
  std::uint64_t feeds_ = 0;
  /// Numbers of feeds; 0 is none.
  std::uint64_t feeding_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t cut_ = 0;
  std::optional<std::size_t> held_at_;
  std::atomic<bool> is_synchronous_ = false;
};

}  // namespace guestlist::fake
