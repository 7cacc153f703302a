#include "lookup_loop.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

/// A query's keys take this much at most, but for a single one.
constexpr std::size_t batch_bytes = std::size_t{1} << 20;

Error too_late() {
  return {make_error_code(Errc::deadline_exceeded),
          "PostgreSQL did not answer the lookup in the time given"};
}

/// The port's errors of a lookup, whatever the server's word was.
Error lookup_error(Error failure) {
  const bool late = failure.code == make_error_code(Errc::deadline_exceeded);
  failure.code = make_error_code(late ? Errc::deadline_exceeded : Errc::unavailable);
  return failure;
}

bool is_of_data(const PGresult* failed) {
  return sql_state(failed).starts_with("22");
}

/// "cached plan must not change result type", or a table or column is gone.
bool is_of_schema(const PGresult* failed) {
  const std::string_view state = sql_state(failed);
  return state == "0A000" || state == "42P01" || state == "42703";
}

}  // namespace

void LookupLoop::Lookup::answer(Result<Loaded> result) {
  if (done) std::exchange(done, nullptr)(std::move(result));
}

Result<std::unique_ptr<LookupLoop>> LookupLoop::start(SessionParameters parameters,
                                                      PostgresTable table, LookupLimits limits) {
  const int wakeup = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wakeup < 0) return fail(errno_error(Errc::unavailable, "no descriptor for the lookups"));
  std::unique_ptr<LookupLoop> loop(
      new LookupLoop(std::move(parameters), std::move(table), limits, wakeup));
  loop->thread_ = std::thread([loop = loop.get()] { loop->run(); });
  return loop;
}

LookupLoop::LookupLoop(SessionParameters parameters, PostgresTable table, LookupLimits limits,
                       int wakeup)
    : parameters_(std::move(parameters)),
      table_(std::move(table)),
      limits_(limits),
      wakeup_(wakeup) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, limits_.connections); ++i)
    members_.push_back({Lane(parameters_, table_, limits_.statement)});
}

LookupLoop::~LookupLoop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wakeup_, 1);
  thread_.join();
  ::close(wakeup_);
}

void LookupLoop::load(std::string_view key, Deadline deadline, Completion<Loaded> done) {
  if (waiting_count_.fetch_add(1, std::memory_order_relaxed) >= limits_.waiting) {
    waiting_count_.fetch_sub(1, std::memory_order_relaxed);
    done(fail(Errc::overloaded, "too many lookups are waiting for PostgreSQL"));
    return;
  }
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = arrived_.empty();
    arrived_.push_back({std::string(key), deadline, std::move(done)});
  }
  // The loop takes all that has arrived, so one call wakes it for many.
  if (is_first) ::eventfd_write(wakeup_, 1);
}

void LookupLoop::run() {
  while (take_arrivals()) {
    const TimePoint now = clock_.now();
    for (Member& member : members_) advance(member, now);
    answer_overdue(now);
    for (Member& member : members_) give_out(member, now);
    refuse_where_nobody_serves(now);
    wait(now);
  }
  const Error closed{make_error_code(Errc::cancelled), "the source was closed"};
  for (Lookup& lookup : waiting_) lookup.answer(fail(closed));
  for (Member& member : members_) {
    for (Lookup& lookup : member.asked) lookup.answer(fail(closed));
  }
}

bool LookupLoop::take_arrivals() {
  std::vector<Lookup> arrived;
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
    stopping = stopping_;
  }
  for (Lookup& lookup : arrived) {
    next_overdue_ = std::min(next_overdue_, lookup.deadline.at);
    waiting_.push_back(std::move(lookup));
  }
  return !stopping;
}

void LookupLoop::answer_overdue(TimePoint now) {
  if (now < next_overdue_) return;
  next_overdue_ = TimePoint::max();
  const auto is_answered = [&](Lookup& lookup) {
    if (lookup.deadline.is_past(now)) lookup.answer(fail(too_late()));
    if (lookup.done) next_overdue_ = std::min(next_overdue_, lookup.deadline.at);
    return !lookup.done;
  };
  // A query goes on though nobody waits for this answer of it any more.
  for (Member& member : members_) std::ranges::for_each(member.asked, is_answered);
  waiting_count_.fetch_sub(std::erase_if(waiting_, is_answered), std::memory_order_relaxed);
}

void LookupLoop::advance(Member& member, TimePoint now) {
  auto outcome = member.lane.advance(now, std::exchange(member.socket_is_ready, false));
  if (outcome) settle(member, *std::move(outcome), now);
}

void LookupLoop::settle(Member& member, Lane::Outcome outcome, TimePoint now) {
  if (outcome.result == nullptr || !succeeded(outcome.result.get())) {
    settle_failure(member, outcome, now);
    return;
  }
  const PGresult* const rows = outcome.result.get();
  Batch asked = std::move(member.asked);
  member.asked.clear();
  for (int row = 0; row < PQntuples(rows); ++row) {
    const std::string_view digits(PQgetvalue(rows, row, 0));
    std::size_t position = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), position);
    if (position == 0 || position > asked.size()) continue;
    asked[position - 1].answer(
        std::string(PQgetvalue(rows, row, 1), static_cast<std::size_t>(PQgetlength(rows, row, 1))));
  }
  // The server has looked, and returned no row for these.
  for (Lookup& lookup : asked) lookup.answer(std::nullopt);
}

void LookupLoop::settle_failure(Member& member, const Lane::Outcome& outcome, TimePoint now) {
  Batch asked = std::move(member.asked);
  member.asked.clear();
  const PGresult* const failed = outcome.result.get();
  if (is_of_schema(failed)) member.lane.start_again(now);
  const bool timed_out = outcome.failure.code == make_error_code(Errc::deadline_exceeded);
  const bool split = is_of_data(failed) && asked.size() > 1;
  for (auto lookup = asked.rbegin(); lookup != asked.rend(); ++lookup) {
    if (!lookup->done) continue;
    // Each lane may have to find out by itself that the table has changed or the server is new.
    if (!split && (timed_out || ++lookup->attempts > members_.size())) {
      lookup->answer(fail(lookup_error(outcome.failure)));
      continue;
    }
    lookup->alone = lookup->alone || split;
    waiting_.push_front(std::move(*lookup));
    waiting_count_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LookupLoop::refuse_where_nobody_serves(TimePoint now) {
  for (const Member& member : members_) {
    if (!member.lane.is_waiting_to_connect(now)) return;
  }
  const Error failure = lookup_error(members_.front().lane.failure());
  waiting_count_.fetch_sub(waiting_.size(), std::memory_order_relaxed);
  for (Lookup& lookup : std::exchange(waiting_, {})) lookup.answer(fail(failure));
}

LookupLoop::Batch LookupLoop::next_batch() {
  Batch batch;
  std::size_t bytes = 0;
  while (!waiting_.empty() && batch.size() < limits_.batch) {
    Lookup& next = waiting_.front();
    bytes += next.key.size();
    if (!batch.empty() && (next.alone || bytes > batch_bytes)) break;
    batch.push_back(std::move(next));
    waiting_.pop_front();
    if (batch.back().alone) break;
  }
  waiting_count_.fetch_sub(batch.size(), std::memory_order_relaxed);
  return batch;
}

void LookupLoop::give_out(Member& member, TimePoint now) {
  if (member.lane.state() != Lane::State::idle || waiting_.empty()) return;
  const KeyTable& table = member.lane.described();
  std::vector<std::vector<std::optional<std::string>>> columns(table.columns().size());
  Batch asked;
  for (Lookup& lookup : next_batch()) {
    auto values = table.values_of(lookup.key);
    if (!values) {
      lookup.answer(fail(std::move(values).error()));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(std::move((*values)[i]));
    asked.push_back(std::move(lookup));
  }
  if (asked.empty()) return;
  std::vector<std::string> arrays;
  arrays.reserve(columns.size());
  for (const auto& column : columns) arrays.push_back(array_literal(column));
  lookups_.fetch_add(asked.size(), std::memory_order_relaxed);
  round_trips_.fetch_add(1, std::memory_order_relaxed);
  member.asked = std::move(asked);
  member.lane.ask(arrays, now);
}

void LookupLoop::wait(TimePoint now) {
  std::vector<pollfd> sockets = {{wakeup_, POLLIN, 0}};
  TimePoint next = next_overdue_;
  for (const Member& member : members_) {
    // A descriptor below zero is passed over.
    sockets.push_back({member.lane.socket(), member.lane.events(), 0});
    next = std::min(next, member.lane.wakes_at());
  }
  int milliseconds = -1;
  if (next != TimePoint::max()) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    milliseconds =
        static_cast<int>(std::clamp<std::int64_t>(rest, 0, std::numeric_limits<int>::max()));
  }
  if (::poll(sockets.data(), sockets.size(), milliseconds) <= 0) return;
  if (sockets.front().revents != 0) {
    eventfd_t ignored = 0;
    ::eventfd_read(wakeup_, &ignored);
  }
  for (std::size_t i = 0; i < members_.size(); ++i)
    members_[i].socket_is_ready = sockets[i + 1].revents != 0;
}

}  // namespace guestlist::postgres
