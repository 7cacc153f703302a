#pragma once

// Compares a sample of verdicts with the source, as long as a filter serves: finds keys that exist
// and were called absent, and measures how many that do not exist pass.
//
// A key that was called absent and is in the source may have been committed a moment ago, within
// the lease: it is asked again when that time is over. Is it absent still, it is a false negative:
// counted, put back on the list and reported. The sample does not depend on the verdict, so the
// measured rate is FP / (FP + TN) of real traffic.
//
// It never delays a request: sampling is a clock reading and one atomic; what the queue has no room
// for is not audited. Distinct objects: safe. Shared objects: safe. Has a thread of its own.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "guestlist/base/clock.hpp"
#include "guestlist/port/membership.hpp"
#include "guestlist/port/source.hpp"

namespace guestlist {

struct AuditCounts {
  std::uint64_t true_positives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t true_negatives = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t late = 0;    ///< called absent before they came, within the lease
  std::uint64_t failed = 0;  ///< the source did not answer

  /// FP / (FP + TN); nothing before any was seen.
  std::optional<double> measured_fpr() const noexcept;
};

class Auditor {
 public:
  struct Options {
    std::uint32_t per_second = 10;  ///< 0: nothing is audited
    Duration recheck_after = std::chrono::seconds(3);
    std::function<void(const std::string& key)> on_false_negative = {};
    /// Every so often, once enough answers support it.
    std::function<void(double)> on_measured_fpr = {};
  };

  /// Requires: `membership` and `source` outlive the auditor.
  Auditor(Membership& membership, Source& source, Options options);
  ~Auditor();
  Auditor(const Auditor&) = delete;
  Auditor& operator=(const Auditor&) = delete;

  void offer(std::string_view key, Verdict verdict);
  AuditCounts counts() const;

 private:
  struct Audit {
    std::string key;
    Verdict verdict;
    TimePoint due{};
    bool is_recheck = false;
  };

  void run();
  std::optional<Audit> take();
  void compare(Audit audit);
  void settle_recheck(const Audit& audit);
  Verdict ask_again(const std::string& key);
  void count(std::uint64_t AuditCounts::*which);
  void report_fpr();

  Membership& membership_;
  Source& source_;
  const Options options_;
  const SteadyClock clock_;
  std::atomic<Duration::rep> next_sample_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Audit> fresh_;
  std::deque<Audit> rechecks_;  ///< in the order in which they are due
  AuditCounts counts_;
  AuditCounts reported_;  ///< up to here `on_measured_fpr` was told
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace guestlist
