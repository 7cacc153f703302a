#include "guestlist/postgres/postgres_snapshot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <thread>
#include <utility>

#include "copy_line.hpp"
#include "given_transactions.hpp"
#include "guestlist/hash/composite_key.hpp"
#include "key_table.hpp"
#include "session.hpp"

namespace guestlist {
namespace {

using postgres::KeyTable;
using postgres::ResultPointer;
using postgres::Session;

constexpr std::size_t keys_per_batch = 4096;

using TransactionId = std::uint64_t;

std::string first_value(const ResultPointer& result) {
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end == digits.data()) return std::nullopt;
  return value;
}

// `Seq Scan on t  (cost=0.00..155.00 rows=10000 width=4)`
std::optional<std::uint64_t> planned_rows(std::string_view plan) {
  constexpr std::string_view word = " rows=";
  const auto at = plan.find(word);
  return at == std::string_view::npos ? std::nullopt : number(plan.substr(at + word.size()));
}

/// Questions to the server that are to be answered within the stall timeout each.
class Conversation {
 public:
  Conversation(Session& session, Duration stall_timeout)
      : session_(session), stall_timeout_(stall_timeout) {}

  Result<ResultPointer> ask(const std::string& sql,
                            const std::vector<std::optional<std::string>>& values = {}) {
    return session_.run(sql, values, Deadline::after(stall_timeout_, clock_));
  }
  Result<std::string> ask_value(const std::string& sql) {
    auto result = ask(sql);
    if (!result) return fail(std::move(result).error());
    return first_value(*result);
  }
  /// Errors: also `corrupt` where the answer is no number.
  Result<std::uint64_t> ask_number(const std::string& sql) {
    auto value = ask_value(sql);
    if (!value) return fail(std::move(value).error());
    const auto read = number(*value);
    if (!read)
      return fail(Errc::corrupt, fmt::format("PostgreSQL answered '{}' to {}", *value, sql));
    return *read;
  }

 private:
  const SteadyClock clock_;
  Session& session_;
  Duration stall_timeout_;
};

/// A position from which nothing is missed by a snapshot that is taken after this has returned.
Result<std::optional<PostgresLsn>> safe_position(Conversation& server, Duration wait_for_writers) {
  const auto standby = server.ask_value("SELECT pg_is_in_recovery()");
  if (!standby) return fail(standby.error());
  if (*standby == "t") return std::nullopt;
  // In this order: whoever committed before the position has a smaller id than one that is drawn
  // after it.
  const auto position = server.ask_value("SELECT pg_current_wal_lsn()");
  if (!position) return fail(position.error());
  const auto later = server.ask_number("SELECT pg_current_xact_id()::text");
  if (!later) return fail(later.error());
  const SteadyClock clock;
  const Deadline limit = Deadline::after(wait_for_writers, clock);
  while (true) {
    const auto oldest = server.ask_number("SELECT pg_snapshot_xmin(pg_current_snapshot())::text");
    if (!oldest) return fail(oldest.error());
    if (*oldest >= *later) return PostgresLsn::parse(*position);
    if (limit.is_past(clock.now())) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Inside the transaction, from its first look at the data on. The lock is taken before that.
Result<KeyTable> freeze(Conversation& server, const PostgresTable& table) {
  if (auto fits = KeyTable::check(table); !fits) return fail(std::move(fits).error());
  const auto locked =
      server.ask(fmt::format("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                             "LOCK TABLE {} IN ACCESS SHARE MODE",
                             KeyTable::quoted_name(table)));
  if (!locked) return fail(locked.error());
  const auto described = server.ask(KeyTable::catalog_query(), KeyTable::catalog_values(table));
  if (!described) return fail(described.error());
  return KeyTable::read(table, described->get());
}

/// Who runs these, as far as this role may see it.
std::string holders(Conversation& server, const std::vector<std::uint32_t>& transactions) {
  const auto named = server.ask_value(fmt::format(
      "SELECT coalesce(string_agg(concat_ws(' ', 'pid', pid, application_name, wait_event), ', '), "
      "'a prepared transaction') FROM pg_catalog.pg_stat_activity WHERE backend_xid::text::bigint "
      "IN ({})",
      fmt::join(transactions, ", ")));
  return named ? *named : "unknown";
}

/// As `freeze`, and again until what must be shown has ended.
Result<KeyTable> freeze_after(Conversation& server, const PostgresTable& table,
                              const PostgresSnapshotOptions& how) {
  const SteadyClock clock;
  const Deadline limit = Deadline::after(how.wait_for_ends, clock);
  while (true) {
    auto frozen = freeze(server, table);
    if (!frozen || how.shows_end_of.empty()) return frozen;
    const auto text = server.ask_value("SELECT pg_current_snapshot()");
    if (!text) return fail(text.error());
    const auto snapshot = postgres::TransactionSnapshot::parse(*text);
    if (!snapshot)
      return fail(Errc::corrupt, "PostgreSQL names its transactions in an unknown way");
    std::vector<std::uint32_t> open;
    std::ranges::copy_if(how.shows_end_of, std::back_inserter(open),
                         [&](std::uint32_t id) { return !snapshot->shows_end_of(id); });
    if (open.empty()) return frozen;
    if (limit.is_past(clock.now())) {
      return fail(Errc::unavailable,
                  fmt::format("commits that are in PostgreSQL's log did not become visible: {}",
                              holders(server, open)));
    }
    if (const auto ended = server.ask("ROLLBACK"); !ended) return fail(ended.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Result<std::optional<std::uint64_t>> count_keys(Conversation& server, const KeyTable& table,
                                                PostgresCount how) {
  switch (how) {
    case PostgresCount::none:
      return std::nullopt;
    case PostgresCount::estimated: {
      const auto plan = server.ask_value(table.estimate_query());
      if (!plan) return fail(plan.error());
      return planned_rows(*plan);
    }
    case PostgresCount::exact:
      break;
  }
  const auto counted = server.ask_number(table.count_query());
  if (!counted) return fail(counted.error());
  return *counted;
}

}  // namespace

struct PostgresSnapshot::Reader {
  Result<void> read_batch(std::vector<std::string>& keys, std::size_t& used);
  Result<void> append(std::string_view line, std::string& key);

  Session session;
  KeyTable table;
  Duration stall_timeout;
  bool has_begun = false;
  bool at_end = false;
  std::optional<Error> failure = {};
  postgres::CopyLine line = {};
  std::string buffer = {};
  std::vector<std::string> parts = {};
};

PostgresSnapshot::PostgresSnapshot(std::unique_ptr<Reader> reader) noexcept
    : reader_(std::move(reader)) {}
PostgresSnapshot::~PostgresSnapshot() = default;

Result<std::unique_ptr<PostgresSnapshot>> PostgresSnapshot::open(
    const PostgresOptions& options, const PostgresTable& table,
    const PostgresSnapshotOptions& how) {
  PostgresOptions patient = options;
  // The table may be large; what is bounded is the time without progress.
  patient.statement_timeout = Duration::zero();
  auto session = Session::open(patient, Deadline::never());
  if (!session) return fail(std::move(session).error());
  Conversation server(*session, how.stall_timeout);
  const auto position = safe_position(server, how.wait_for_writers);
  if (!position) return fail(position.error());
  auto frozen = freeze_after(server, table, how);
  if (!frozen) return fail(std::move(frozen).error());
  const auto count = count_keys(server, *frozen, how.count);
  if (!count) return fail(count.error());
  std::unique_ptr<PostgresSnapshot> snapshot(new PostgresSnapshot(std::make_unique<Reader>(
      Reader{*std::move(session), *std::move(frozen), how.stall_timeout})));
  snapshot->count_ = *count;
  snapshot->position_ = *position;
  return snapshot;
}

Result<void> PostgresSnapshot::next(std::vector<std::string>& keys) {
  Reader& reader = *reader_;
  // Strings that are there already keep their memory for the keys to come.
  std::size_t used = 0;
  if (!reader.failure) {
    if (auto read = reader.read_batch(keys, used); !read) reader.failure = std::move(read).error();
  }
  keys.resize(reader.failure ? 0 : used);
  if (reader.failure) return fail(*reader.failure);
  return {};
}

Result<void> PostgresSnapshot::Reader::read_batch(std::vector<std::string>& keys,
                                                  std::size_t& used) {
  const SteadyClock clock;
  // Only now, since whoever wants the count alone need not have the rows sent.
  if (!std::exchange(has_begun, true)) {
    const Deadline stalled = Deadline::after(stall_timeout, clock);
    if (auto begun = session.begin_copy(table.copy_statement(), stalled); !begun) return begun;
  }
  const Deadline stalled = Deadline::after(stall_timeout, clock);
  while (!at_end && used < keys_per_batch) {
    auto arrived = session.next_copy_line(stalled);
    if (!arrived) return fail(std::move(arrived).error());
    at_end = !*arrived;
    if (at_end) break;
    if (used == keys.size()) keys.emplace_back();
    if (auto appended = append(**arrived, keys[used]); !appended) return appended;
    ++used;
  }
  return {};
}

Result<void> PostgresSnapshot::Reader::append(std::string_view text, std::string& key) {
  const auto& columns = table.columns();
  if (!line.parse(text) || line.fields().size() != columns.size())
    return fail(Errc::corrupt, "PostgreSQL sent a row that COPY does not write");
  parts.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto canonical = columns[i].canonical(line.fields()[i], buffer);
    // It must not be skipped: what is missing from a list is said not to exist.
    if (!canonical) {
      return fail(Errc::corrupt, fmt::format("a value of column '{}' is no '{}'", columns[i].name(),
                                             name(columns[i].type())));
    }
    (columns.size() == 1 ? key : parts[i]).assign(*canonical);
  }
  if (columns.size() > 1) key = join_key(parts);
  return {};
}

}  // namespace guestlist
