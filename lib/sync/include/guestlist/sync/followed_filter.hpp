#pragma once

// A filter in this process that follows its source by itself: it is filled from a snapshot, gets
// every change after that, is built again where that is due, and comes back from its file after a
// restart. It is behind the Membership port; `absent` is said only where all of this holds:
//
//   complete   a generation was published, and no change was lost since
//   fresh      everything that was committed up to a moment not longer ago than the lease is in
//
// Else the answer is `unknown`: `building` before the first generation, `incomplete` after the
// source could not give what came in between (it is being built anew then), `stale` while the
// source is away or we are behind. Whatever happens to the source, the filter comes back by itself.
//
// What is acknowledged to the source is in the bits, in the journal and in `published`: a commit
// that waits for the acknowledgement becomes visible only to find its key on the list.
//
// Two threads: one follows, one builds, measures and saves. Distinct objects: safe. Shared objects:
// safe. Tested by: FollowedFilter.*, the Membership laws.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "guestlist/filter/rebuild_policy.hpp"
#include "guestlist/guard/local_membership.hpp"
#include "guestlist/port/change_feed.hpp"
#include "guestlist/port/membership.hpp"
#include "guestlist/sync/saved_filter.hpp"

namespace guestlist {

struct FollowOptions {
  std::string name;
  /// What the keys are of, in words: a file that was built from something else is not used.
  std::string origin;
  /// How keys are spelt, for whoever reads the file.
  std::string key_type = "text";
  double fpr = 0.01;
  /// Room for keys that come later, as a share of the source's count.
  double headroom = 0.25;
  RebuildTriggers triggers = {};
  /// `absent` is said for so long after the moment up to which everything is known to be in.
  Duration lease = std::chrono::seconds(3);
  /// Where file and journal are kept; empty: nowhere, and a restart reads the source again.
  std::string folder = {};
  std::uint64_t max_journal_bytes = std::uint64_t{64} << 20;
  Duration measure_every = std::chrono::seconds(5);
  /// Between two attempts to reach a source that is away, at most.
  Duration retry_at_most = std::chrono::seconds(5);
  /// A line for the log, from any thread.
  std::function<void(Severity, const std::string&)> log = {};
};

struct FollowStatus {
  bool is_complete = false;
  bool is_fresh = false;
  Reason reason = Reason::building;  ///< why nothing is called absent; `none` where it is
  std::string trouble = {};          ///< the last error, while it lasts
  std::uint64_t generation = 0;
  std::uint64_t capacity = 0;
  std::uint64_t items = 0;
  std::uint64_t size_bytes = 0;
  double fill = 0;
  double fpr_asked = 0;
  double fpr_now = 0;
  bool is_following = false;
  std::optional<SourcePosition> position = {};
  FeedLag lag = {};
  std::optional<Duration> behind = {};  ///< since the moment up to which everything is in
  std::uint64_t added = 0;              ///< keys that came through the feed
  std::uint64_t removed = 0;            ///< rows that went since the generation was built
  bool is_building = false;
  RebuildReason building_why = RebuildReason::none;
  std::uint64_t built_keys = 0;
  std::optional<std::uint64_t> keys_to_build = {};
  double building_seconds = 0;
  std::uint64_t rebuilds = 0;
};

class FollowedFilter final : public Membership {
 public:
  /// `published`: further memberships that get every key before it is acknowledged. All outlive the
  /// filter. Errors: of SavedFilter::open.
  static Result<std::unique_ptr<FollowedFilter>> start(FollowOptions options,
                                                       std::shared_ptr<FollowedSource> source,
                                                       std::vector<Membership*> published = {});
  /// Saves what it can, and ends.
  ~FollowedFilter() override;

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<void> done) override;
  std::shared_ptr<const void> begin_write() override { return local_.begin_write(); }

  void request_rebuild();
  /// The rate of false positives as measured on answers.
  void report_fpr(double measured);
  FollowStatus status() const;
  FollowedSource& source() noexcept { return *source_; }

 private:
  FollowedFilter(FollowOptions options, std::shared_ptr<FollowedSource> source,
                 std::vector<Membership*> published, std::optional<SavedFilter> saved);

  // Of the thread that follows.
  void follow();
  Result<void> follow_once();
  Result<void> take(ChangeFeed& feed, const Changes& changes);
  Result<void> publish_keys(std::span<const std::string> keys);
  void begin_anew(const Error& why);

  // Of the thread that builds.
  void keep();
  void build(RebuildReason why);
  void measure();
  void save();
  RebuildReason why_build() const;

  Reason reason(TimePoint now) const noexcept;
  void restore();
  void log(Severity severity, const std::string& line) const;
  void set_trouble(const std::string& line);
  bool is_ending() const noexcept { return ending_.load(std::memory_order_acquire); }
  void sleep(Duration span);

  const FollowOptions options_;
  const std::shared_ptr<FollowedSource> source_;
  const std::vector<Membership*> published_;
  const SteadyClock clock_;
  LocalMembership local_;

  std::atomic<bool> ending_ = false;
  /// No change is missing from the live generation. Set by the builder, cleared by the follower.
  std::atomic<bool> is_complete_ = false;
  std::atomic<bool> was_complete_ = false;
  /// Counts the moments at which changes were lost, or may have been: a generation that began to be
  /// built before one of them is not complete.
  std::atomic<std::uint64_t> beginnings_ = 0;
  /// Nanoseconds of monotonic time.
  std::atomic<Duration::rep> fresh_until_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FollowStatus status_;  ///< what is measured or reported now and then
  std::optional<TimePoint> as_of_;
  TimePoint built_at_{};
  TimePoint build_began_{};
  bool asked_by_hand_ = false;
  bool save_is_due_ = false;
  std::optional<double> measured_fpr_;
  std::optional<SavedFilter> saved_;
  std::optional<SourcePosition> position_;

  std::thread follower_;
  std::thread keeper_;
};

}  // namespace guestlist
