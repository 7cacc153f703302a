#include "service/auditor.hpp"

#include <utility>

#include "guestlist/port/completion.hpp"

namespace guestlist {
namespace {

constexpr std::size_t max_waiting = 1024;
constexpr Duration source_patience = std::chrono::seconds(2);
/// Absent keys that must have been asked for before their rate of false positives means anything.
constexpr std::uint64_t enough_absent = 2000;

}  // namespace

std::optional<double> AuditCounts::measured_fpr() const noexcept {
  const std::uint64_t absent = false_positives + true_negatives;
  if (absent == 0) return std::nullopt;
  return static_cast<double>(false_positives) / static_cast<double>(absent);
}

Auditor::Auditor(Membership& membership, Source& source, Options options)
    : membership_(membership), source_(source), options_(std::move(options)) {
  if (options_.per_second > 0) thread_ = std::thread([this] { run(); });
}

Auditor::~Auditor() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Auditor::offer(std::string_view key, Verdict verdict) {
  if (options_.per_second == 0 || verdict.answer == Answer::unknown) return;
  const TimePoint now = clock_.now();
  const Duration::rep elapsed = now.time_since_epoch().count();
  Duration::rep next = next_sample_.load(std::memory_order_relaxed);
  if (elapsed < next) return;
  const Duration::rep interval = Duration(std::chrono::seconds(1)).count() / options_.per_second;
  // Whoever loses the race leaves this sample to the other; nothing else is published by it.
  if (!next_sample_.compare_exchange_strong(next, elapsed + interval, std::memory_order_relaxed))
    return;
  {
    const std::lock_guard lock(mutex_);
    if (fresh_.size() >= max_waiting) return;
    fresh_.push_back({std::string(key), verdict, now, false});
  }
  changed_.notify_one();
}

AuditCounts Auditor::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Auditor::run() {
  while (auto audit = take()) {
    if (audit->is_recheck)
      settle_recheck(*audit);
    else
      compare(*std::move(audit));
    report_fpr();
  }
}

std::optional<Auditor::Audit> Auditor::take() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const bool is_due = !rechecks_.empty() && rechecks_.front().due <= clock_.now();
    std::deque<Audit>& queue = is_due ? rechecks_ : fresh_;
    if (!queue.empty()) {
      Audit audit = std::move(queue.front());
      queue.pop_front();
      return audit;
    }
    if (rechecks_.empty())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, rechecks_.front().due);
  }
  return std::nullopt;
}

void Auditor::compare(Audit audit) {
  const auto found = wait_for<std::optional<std::string>>([&](auto done) {
    source_.load(audit.key, Deadline::after(source_patience, clock_), std::move(done));
  });
  if (!found) return count(&AuditCounts::failed);
  const bool exists = found->has_value();
  if (!audit.verdict.is_absent())
    return count(exists ? &AuditCounts::true_positives : &AuditCounts::false_positives);
  if (!exists) return count(&AuditCounts::true_negatives);
  audit.is_recheck = true;
  audit.due = clock_.now() + options_.recheck_after;
  const std::lock_guard lock(mutex_);
  if (rechecks_.size() < max_waiting) rechecks_.push_back(std::move(audit));
}

void Auditor::settle_recheck(const Audit& audit) {
  if (!ask_again(audit.key).is_absent()) return count(&AuditCounts::late);
  const auto found = wait_for<std::optional<std::string>>([&](auto done) {
    source_.load(audit.key, Deadline::after(source_patience, clock_), std::move(done));
  });
  if (!found) return count(&AuditCounts::failed);
  if (!found->has_value()) return count(&AuditCounts::true_negatives);
  // Between the two questions it may have come.
  if (!ask_again(audit.key).is_absent()) return count(&AuditCounts::late);
  count(&AuditCounts::false_negatives);
  const std::string_view key = audit.key;
  const auto added = wait_for<void>([&](auto done) {
    membership_.add(std::span(&key, 1), Deadline::after(source_patience, clock_), std::move(done));
  });
  if (!added) count(&AuditCounts::failed);
  if (options_.on_false_negative) options_.on_false_negative(audit.key);
}

Verdict Auditor::ask_again(const std::string& key) {
  const std::string_view asked = key;
  const auto verdict = wait_for<Verdict>([&](Completion<Verdict> done) {
    membership_.check(
        std::span(&asked, 1), Deadline::after(source_patience, clock_),
        [done = std::move(done)](std::span<const Verdict> verdicts) { done(verdicts.front()); });
  });
  return *verdict;
}

void Auditor::count(std::uint64_t AuditCounts::*which) {
  const std::lock_guard lock(mutex_);
  ++(counts_.*which);
}

void Auditor::report_fpr() {
  if (!options_.on_measured_fpr) return;
  std::optional<double> measured;
  {
    const std::lock_guard lock(mutex_);
    AuditCounts since;
    since.false_positives = counts_.false_positives - reported_.false_positives;
    since.true_negatives = counts_.true_negatives - reported_.true_negatives;
    if (since.false_positives + since.true_negatives < enough_absent) return;
    measured = since.measured_fpr();
    reported_ = counts_;
  }
  options_.on_measured_fpr(*measured);
}

}  // namespace guestlist
