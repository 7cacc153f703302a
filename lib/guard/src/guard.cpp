#include "guestlist/guard/guard.hpp"

#include <random>
#include <utility>

namespace guestlist {
namespace {

constexpr std::uint32_t percentile_of(std::string_view key) noexcept {
  // FNV-1a: only the spread over a hundred places matters, and that it never changes.
  std::uint32_t hash = 2166136261;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash % 100;
}

constexpr GuardEvent event_of(Verdict verdict) noexcept {
  switch (verdict.answer) {
    case Answer::maybe:
      return GuardEvent::maybe;
    case Answer::absent:
      return GuardEvent::absent;
    case Answer::unknown:
      break;
  }
  return GuardEvent::unknown;
}

constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

/// A shared cache keeps nulls beside values, so the first byte tells which it is.
constexpr char value_mark = '+';
constexpr char null_mark = '-';

std::string marked(const std::optional<std::string>& value) {
  return value ? value_mark + *value : std::string(1, null_mark);
}

bool is_null(const std::optional<std::string>& cached) {
  return cached && !cached->empty() && cached->front() == null_mark;
}

}  // namespace

/// One read. Each step may be answered by its port or by a timer, whoever comes first.
struct Guard::Operation {
  std::string key;
  Deadline deadline;
  Completion<Lookup> done;
  Verdict verdict;
  std::atomic<bool> has_verdict = false;
  std::atomic<bool> has_cached = false;
  std::atomic<bool> is_done = false;
  std::optional<std::string> cached;
  std::atomic<int> awaited = 2;  ///< of verdict and cache, where both are asked together
};

Guard::Guard(GuardOptions options, Membership& membership, ValueCache& cache, Source& source,
             const Clock& clock)
    : options_(std::move(options)),
      membership_(membership),
      cache_(cache),
      source_(source),
      clock_(clock),
      mode_(options_.mode),
      budget_(options_.budget_per_second),
      nulls_(options_.null_cache_bytes, options_.null_time_to_live),
      flights_(options_.flights),
      jitter_state_(std::random_device{}()) {
  if (options_.own_timer_thread) timer_thread_.emplace(timers_);
}

Guard::~Guard() {
  // Ports answer by their deadlines, and their answers end every read. Until then the timers go on,
  // so that callers are told in time.
  outstanding_.wait_for_all();
  timer_thread_.reset();
  // A timer may have begun a last attempt.
  outstanding_.wait_for_all();
}

Result<Lookup> Guard::get(std::string_view key, Deadline deadline) {
  return wait_for<Lookup>([&](Completion<Lookup> done) { get(key, deadline, std::move(done)); });
}

void Guard::get(std::string_view key, Deadline deadline, Completion<Lookup> done) {
  counters_.add(GuardEvent::request);
  const auto operation = std::make_shared<Operation>();
  operation->key = key;
  operation->deadline = deadline;
  operation->done = std::move(done);
  if (deadline.is_past(clock_.now())) {
    finish(operation,
           fail(Errc::deadline_exceeded, "the deadline was over before the guard was asked"));
    return;
  }
  ask_filter(operation);
  if (options_.is_cache_shared) ask_cache(operation);
}

void Guard::ask_filter(const OperationPointer& operation) {
  const std::string_view keys[] = {operation->key};
  const Deadline check_by = sooner(operation->deadline, options_.check_timeout);
  membership_.check(
      keys, check_by,
      [this, operation, alive = outstanding_.token()](std::span<const Verdict> verdicts) {
        on_verdict(operation, verdicts.front());
      });
  if (operation->has_verdict.load(std::memory_order_acquire)) return;
  timers_.at(check_by.at,
             [this, operation] { on_verdict(operation, Verdict::unknown(Reason::deadline)); });
}

void Guard::on_verdict(const OperationPointer& operation, Verdict verdict) {
  if (operation->has_verdict.exchange(true, std::memory_order_acq_rel)) return;
  operation->verdict = verdict;
  counters_.add(event_of(verdict));
  if (options_.is_cache_shared) return on_both(operation);
  if (nulls_.knows(operation->key, clock_.now())) return answer_null(operation);
  if (admits(operation)) ask_cache(operation);
}

/// Whether the read goes on; else it has been answered.
bool Guard::admits(const OperationPointer& operation) {
  const Verdict verdict = operation->verdict;
  const Mode mode = this->mode();
  const bool within_budget = needs_budget(verdict, mode) && budget_.take(clock_.now());
  switch (decide(verdict, mode, options_.enforced_percent, percentile_of(operation->key),
                 within_budget)) {
    case Decision::pass:
      break;
    case Decision::audit:
      counters_.add(GuardEvent::audit);
      break;
    case Decision::would_reject:
      counters_.add(GuardEvent::would_reject);
      break;
    case Decision::reject:
      counters_.add(GuardEvent::rejected);
      finish(operation, Lookup{Lookup::Outcome::rejected, Lookup::Origin::filter, verdict, {}});
      return false;
  }
  return true;
}

void Guard::ask_cache(const OperationPointer& operation) {
  const Deadline cache_by = sooner(operation->deadline, options_.cache_timeout);
  cache_.get(
      operation->key, cache_by,
      [this, operation, alive = outstanding_.token()](Result<std::optional<std::string>> cached) {
        // A cache that fails is a cache that has nothing.
        on_cached(operation, cached ? std::move(*cached) : std::nullopt);
      });
  if (operation->has_cached.load(std::memory_order_acquire)) return;
  timers_.at(cache_by.at, [this, operation] { on_cached(operation, std::nullopt); });
}

void Guard::on_cached(const OperationPointer& operation, std::optional<std::string> cached) {
  if (operation->has_cached.exchange(true, std::memory_order_acq_rel)) return;
  operation->cached = std::move(cached);
  if (options_.is_cache_shared) return on_both(operation);
  use_cached(operation);
}

void Guard::on_both(const OperationPointer& operation) {
  if (operation->awaited.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (is_null(operation->cached)) return answer_null(operation);
  if (operation->cached && !operation->cached->empty()) operation->cached->erase(0, 1);
  if (admits(operation)) use_cached(operation);
}

void Guard::answer_null(const OperationPointer& operation) {
  counters_.add(GuardEvent::null_hit);
  finish(operation,
         Lookup{Lookup::Outcome::not_found, Lookup::Origin::null_cache, operation->verdict, {}});
}

void Guard::use_cached(const OperationPointer& operation) {
  if (!operation->cached) {
    board_flight(operation);
    return;
  }
  counters_.add(GuardEvent::value_hit);
  repair_if_denied(operation);
  finish(operation, Lookup{Lookup::Outcome::found, Lookup::Origin::value_cache, operation->verdict,
                           std::move(*operation->cached)});
}

void Guard::board_flight(const OperationPointer& operation) {
  using Seat = Flights<OperationPointer>::Seat;
  const auto boarding = flights_.board(operation->key, operation);
  switch (boarding.seat) {
    case Seat::refused:
      counters_.add(GuardEvent::overloaded);
      finish(operation,
             fail(Errc::overloaded, "too many loads are waiting for the source; try again later"));
      return;
    case Seat::leads:
      begin_attempt({operation->key, boarding.flight, 1});
      break;
    case Seat::waits:
      counters_.add(GuardEvent::joined);
      break;
  }
  if (operation->is_done.load(std::memory_order_acquire)) return;
  timers_.at(
      operation->deadline.at, [this, flight = boarding.flight, weak = std::weak_ptr(operation)] {
        const OperationPointer late = weak.lock();
        if (late == nullptr || late->is_done.load(std::memory_order_acquire)) return;
        flights_.give_up(flight, late);
        counters_.add(GuardEvent::deadline);
        finish(late, fail(Errc::deadline_exceeded, "the source did not answer in the time given"));
      });
}

void Guard::begin_attempt(const Attempt& attempt) {
  counters_.add(GuardEvent::load);
  const NullCache::Lease lease = nulls_.begin_load(attempt.key);
  if (!options_.is_cache_shared) return load(attempt, lease);
  cache_.lease(attempt.key, Deadline::after(options_.cache_timeout, clock_),
               [this, attempt, lease, alive = outstanding_.token()](const Result<void>&) {
                 // Without a lease the answer is not kept, and that is all.
                 load(attempt, lease);
               });
}

void Guard::load(const Attempt& attempt, NullCache::Lease lease) {
  const Deadline load_by = Deadline::after(options_.load_timeout, clock_);
  const auto answered = std::make_shared<std::atomic<bool>>(false);
  source_.load(attempt.key, load_by,
               [this, attempt, lease, answered,
                alive = outstanding_.token()](Result<std::optional<std::string>> loaded) {
                 answered->store(true, std::memory_order_release);
                 on_loaded(attempt, lease, std::move(loaded));
               });
  if (answered->load(std::memory_order_acquire)) return;
  timers_.at(load_by.at, [this, attempt, answered] {
    if (answered->load(std::memory_order_acquire)) return;
    on_attempt_over(attempt, Error{make_error_code(Errc::deadline_exceeded),
                                   "the source did not answer in time"});
  });
}

void Guard::on_loaded(const Attempt& attempt, NullCache::Lease lease,
                      Result<std::optional<std::string>> loaded) {
  if (!loaded) {
    on_attempt_over(attempt, loaded.error());
    return;
  }
  // Filled before anybody is told, so that who asks next finds it.
  fill(attempt.key, lease, *loaded);
  for (const OperationPointer& operation : flights_.land(attempt.flight, attempt.number)) {
    if (*loaded) {
      repair_if_denied(operation);
    } else if (operation->verdict.answer == Answer::maybe) {
      counters_.add(GuardEvent::false_positive);
    }
    finish(operation, Lookup{*loaded ? Lookup::Outcome::found : Lookup::Outcome::not_found,
                             Lookup::Origin::source, operation->verdict, loaded->value_or("")});
  }
}

void Guard::on_attempt_over(const Attempt& attempt, const Error& error) {
  counters_.add(GuardEvent::failed_load);
  const auto ended = flights_.attempt_over(attempt.flight, attempt.number);
  if (ended.next_attempt) begin_attempt({attempt.key, attempt.flight, *ended.next_attempt});
  for (const OperationPointer& operation : ended.waiters) finish(operation, fail(error));
}

void Guard::fill(const std::string& key, NullCache::Lease lease,
                 const std::optional<std::string>& value) {
  if (!value && !options_.is_cache_shared) {
    if (!nulls_.remember(key, lease, clock_.now())) counters_.add(GuardEvent::refused_null);
    return;
  }
  if (!nulls_.holds(key, lease)) {
    if (!value) counters_.add(GuardEvent::refused_null);
    return;
  }
  cache_.put(key, options_.is_cache_shared ? marked(value) : *value,
             value ? jittered_time_to_live() : options_.null_time_to_live,
             Deadline::after(options_.cache_timeout, clock_),
             [this, key, lease, alive = outstanding_.token()](const Result<void>&) {
               // Written while the value was on its way: the drop may have come before the put.
               if (!nulls_.holds(key, lease)) {
                 cache_.erase(key, Deadline::after(options_.cache_timeout, clock_),
                              [alive](const Result<void>&) {});
               }
             });
}

// The filter denied a key that exists. If it does not any more, the key was added while we looked:
// no fault.
void Guard::repair_if_denied(const OperationPointer& operation) {
  if (!operation->verdict.is_absent()) return;
  const std::string_view keys[] = {operation->key};
  const Deadline by = Deadline::after(options_.check_timeout, clock_);
  membership_.check(
      keys, by, [this, operation, alive = outstanding_.token()](std::span<const Verdict> verdicts) {
        if (!verdicts.front().is_absent()) return;
        counters_.add(GuardEvent::false_negative);
        const std::string_view denied[] = {operation->key};
        membership_.add(denied, Deadline::after(options_.check_timeout, clock_),
                        [this, operation, alive](const Result<void>&) {
                          if (options_.on_false_negative)
                            options_.on_false_negative(operation->key);
                        });
      });
}

Result<void> Guard::write(std::string_view key, const std::function<Result<void>()>& commit,
                          Deadline deadline) {
  return write(std::span(&key, 1), commit, deadline);
}

Result<void> Guard::write(std::span<const std::string_view> keys,
                          const std::function<Result<void>()>& commit, Deadline deadline) {
  const auto token = membership_.begin_write();
  auto added = wait_for<void>(
      [&](Completion<void> done) { membership_.add(keys, deadline, std::move(done)); });
  const bool no_filter = !added && added.error().code == Errc::not_found;
  if (!added && !(no_filter && options_.write_without_filter)) return added;
  auto committed = commit();
  // Also after a failure: a commit whose reply was lost has happened all the same.
  for (const std::string_view key : keys) {
    const auto dropped = wait_for<void>([&](Completion<void> done) {
      invalidate(key, Deadline::after(options_.cache_timeout, clock_), std::move(done));
    });
    if (!dropped) {
      counters_.add(GuardEvent::failed_invalidation);
      // Whatever the cache held before the write was over by then at the latest.
      invalidate_again(std::string(key), clock_.now() + std::max(options_.value_time_to_live * 2,
                                                                 options_.null_time_to_live));
    }
  }
  return committed;
}

void Guard::invalidate(std::string_view key, Deadline deadline, Completion<void> done) {
  nulls_.invalidate(key);
  // Who reads from now on must not get the answer of a load that began before the write.
  flights_.close(key);
  cache_.erase(key, deadline,
               [done = std::move(done), alive = outstanding_.token()](Result<void> erased) {
                 done(std::move(erased));
               });
}

void Guard::invalidate_again(const std::string& key, TimePoint until) {
  constexpr Duration pause = std::chrono::milliseconds(100);
  if (clock_.now() >= until) return;
  timers_.at(clock_.now() + pause, [this, key, until] {
    invalidate(key, Deadline::after(options_.cache_timeout, clock_),
               [this, key, until](const Result<void>& dropped) {
                 if (!dropped) invalidate_again(key, until);
               });
  });
}

void Guard::finish(const OperationPointer& operation, Result<Lookup> result) {
  if (operation->is_done.exchange(true, std::memory_order_acq_rel)) return;
  operation->done(std::move(result));
}

Deadline Guard::sooner(Deadline deadline, Duration span) const {
  return std::min(deadline, Deadline::after(span, clock_),
                  [](const Deadline& a, const Deadline& b) { return a.at < b.at; });
}

Duration Guard::jittered_time_to_live() {
  const std::uint64_t random =
      scramble(jitter_state_.fetch_add(0x9E3779B97F4A7C15, std::memory_order_relaxed));
  const double unit = static_cast<double>(random >> 11) * 0x1p-53;  // 0 to 1
  const double factor = 1 + options_.time_to_live_jitter * (2 * unit - 1);
  return std::chrono::duration_cast<Duration>(options_.value_time_to_live * factor);
}

}  // namespace guestlist
