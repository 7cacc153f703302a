#include "slot_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "feed_watch.hpp"
#include "given_transactions.hpp"
#include "guestlist/postgres/postgres_lsn.hpp"
#include "sql_text.hpp"
#include "sync_release.hpp"

namespace guestlist::postgres {
namespace {

constexpr Duration patience = std::chrono::seconds(10);

bool has_state(const Error& error, std::string_view state) {
  return error.detail.ends_with(fmt::format("({})", state));
}

}  // namespace

Result<SlotKeeper> SlotKeeper::open(const PostgresOptions& options, const PostgresTable& table,
                                    const PostgresFollowOptions& follow) {
  const SteadyClock clock;
  auto session = Session::open(options, Deadline::after(options.connect_timeout, clock));
  if (!session) return fail(std::move(session).error());
  SlotKeeper keeper(*std::move(session), options, table, follow);
  const auto set = keeper.ask("SET synchronous_commit = local; SET lock_timeout = '5s'");
  if (!set) return fail(set.error());
  return keeper;
}

Result<ResultPointer> SlotKeeper::ask(const std::string& sql) {
  return session_.run(sql, {}, Deadline::after(patience, clock_));
}

std::string SlotKeeper::publication() const {
  return follow_.publication.empty() ? follow_.slot : follow_.publication;
}

Result<ServerIdentity> SlotKeeper::identity() {
  const auto answer = ask(ServerIdentity::query());
  if (!answer) return fail(answer.error());
  return ServerIdentity::read(answer->get());
}

Result<FollowedTable> SlotKeeper::table() {
  const auto answer = ask(FollowedTable::query(table_, follow_));
  if (!answer) return fail(answer.error());
  return FollowedTable::read(answer->get(), table_, follow_);
}

Result<KeyTable> SlotKeeper::key_table() {
  const auto answer = session_.run(KeyTable::catalog_query(), KeyTable::catalog_values(table_),
                                   Deadline::after(patience, clock_));
  if (!answer) return fail(answer.error());
  return KeyTable::read(table_, answer->get());
}

Result<SlotState> SlotKeeper::slot() {
  const auto answer = ask(SlotState::query(follow_.slot));
  if (!answer) return fail(answer.error());
  return SlotState::read(answer->get(), 0);
}

Result<std::vector<std::uint32_t>> SlotKeeper::may_have_committed() {
  // A snapshot lists those that run before the latest that has ended, and names none beyond it. So
  // one that is later than all of them ends first.
  const auto later = ask("SELECT pg_catalog.pg_current_xact_id()");
  if (!later) return fail(later.error());
  const auto answer = ask("SELECT pg_catalog.pg_current_snapshot()");
  if (!answer) return fail(answer.error());
  const auto snapshot = TransactionSnapshot::parse(PQgetvalue(answer->get(), 0, 0));
  if (!snapshot) return fail(Errc::corrupt, "PostgreSQL names its transactions in an unknown way");
  auto running = snapshot->running();
  if (running.empty()) return running;
  // Whoever waits for his client now had not begun to commit when the question above was asked. It
  // may be hours until he does, and his keys come by the feed then.
  const auto idle =
      ask("SELECT backend_xid::text FROM pg_catalog.pg_stat_activity "
          "WHERE backend_xid IS NOT NULL AND state = 'idle in transaction'");
  if (!idle) return fail(idle.error());
  for (int row = 0; row < PQntuples(idle->get()); ++row) {
    std::erase(running, static_cast<std::uint32_t>(
                            std::strtoul(PQgetvalue(idle->get(), row, 0), nullptr, 10)));
  }
  return running;
}

Result<std::uint64_t> SlotKeeper::end(Deadline deadline) {
  const auto answer = session_.run(
      fmt::format("SELECT {}",
                  FeedWatch::note(FeedWatch::prefix(follow_.slot), "'end'", server_version())),
      {}, deadline);
  if (!answer) return fail(answer.error());
  const auto lsn = PostgresLsn::parse(PQgetvalue(answer->get(), 0, 0));
  if (!lsn) return fail(Errc::corrupt, "PostgreSQL names the end of its log in an unknown way");
  return lsn->value;
}

Result<FollowedTable> SlotKeeper::ensure_publication() {
  // One that begins at the same time would make it anew, and end the feed of whoever was first.
  const std::string turn =
      fmt::format("(hashtext({}))", quoted_literal("guestlist " + publication()));
  const auto taken = ask("SELECT pg_catalog.pg_advisory_lock" + turn);
  if (!taken) return fail(taken.error());
  auto ensured = ensure_publication_in_turn();
  const auto left = ask("SELECT pg_catalog.pg_advisory_unlock" + turn);
  if (!left) return fail(left.error());
  return ensured;
}

Result<FollowedTable> SlotKeeper::ensure_publication_in_turn() {
  auto described = table();
  if (!described) return described;
  if (auto obstacle = described->obstacle()) return fail(*std::move(obstacle));
  const auto fault = described->publication_fault();
  if (!fault) return described;
  const std::string create = described->create_publication(server_version());
  const std::string drop =
      fmt::format("DROP PUBLICATION IF EXISTS {}", quoted_identifier(publication()));
  const auto made = ask(fmt::format("{}; {}", drop, create));
  if (!made) {
    if (has_state(made.error(), "42501")) {
      return fail(Errc::invalid_argument,
                  fmt::format("the publication '{}' will not do ({}), and this role may not make "
                              "it; the table's owner runs: {}{}",
                              publication(), *fault,
                              described->has_publication() ? drop + "; " : "", create));
    }
    return fail(made.error());
  }
  described = table();
  if (!described) return described;
  if (const auto still = described->publication_fault()) {
    return fail(
        Errc::invalid_argument,
        fmt::format("the publication '{}' was made and will not do: {}", publication(), *still));
  }
  return described;
}

Result<void> SlotKeeper::make_slot(const SlotState& now) {
  if (now.exists) {
    if (auto dropped = drop_slot(); !dropped) return dropped;
  }
  // Commits that wait for us are open transactions, and a new slot waits for these.
  std::optional<SyncRelease> release;
  if (follow_.is_synchronous) release.emplace(options_);
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(follow_.slot_timeout).count();
  const auto set = ask(fmt::format("SET statement_timeout = {}; SET lock_timeout = 0", limit));
  if (!set) return fail(set.error());
  const auto made = session_.run(
      fmt::format("SELECT pg_catalog.pg_create_logical_replication_slot({}, 'pgoutput')",
                  quoted_literal(follow_.slot)),
      {}, Deadline::after(follow_.slot_timeout + patience, clock_));
  if (!made) {
    Error error = slot_error(made.error());
    if (release && release->failure())
      error.detail += fmt::format("; commits that wait for us could not be let go: {}",
                                  release->failure()->detail);
    return fail(std::move(error));
  }
  const auto usual = std::chrono::ceil<std::chrono::milliseconds>(options_.statement_timeout);
  const auto reset =
      ask(fmt::format("SET statement_timeout = {}; SET lock_timeout = '5s'", usual.count()));
  if (!reset) return fail(reset.error());
  return {};
}

Error SlotKeeper::slot_error(Error error) {
  const auto refused = [&](std::string_view what) {
    return Error{make_error_code(Errc::invalid_argument),
                 fmt::format("{}: {}", error.detail, what)};
  };
  if (has_state(error, "57014")) {
    return {
        make_error_code(Errc::unavailable),
        fmt::format("a new replication slot waits for every transaction that has written and "
                    "is still open, and within {} s these did not end: {}; end them, or try "
                    "again when they have ended",
                    std::chrono::duration_cast<std::chrono::seconds>(follow_.slot_timeout).count(),
                    blockers())};
  }
  if (has_state(error, "42501"))
    return refused("run ALTER ROLE … REPLICATION, or GRANT rds_replication TO …");
  if (has_state(error, "53400"))
    return refused("raise max_replication_slots and restart PostgreSQL, or drop a slot");
  if (has_state(error, "55000"))
    return refused("set wal_level = logical in postgresql.conf and restart PostgreSQL");
  if (has_state(error, "42602"))
    return refused("a slot is named by lower case letters, digits and underscores");
  return replication_error(std::move(error));
}

std::string SlotKeeper::blockers() {
  const auto answer = ask(
      "SELECT coalesce(string_agg(who, ', '), 'none that this role may see') FROM ("
      "SELECT concat_ws(' ', 'pid', pid, nullif(application_name, ''), usename, "
      "'since ' || date_trunc('second', xact_start), wait_event) AS who "
      "FROM pg_catalog.pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid() "
      "UNION ALL SELECT concat_ws(' ', 'prepared transaction', gid, 'since', "
      "date_trunc('second', prepared)) FROM pg_catalog.pg_prepared_xacts LIMIT 10) AS open");
  return answer ? PQgetvalue(answer->get(), 0, 0) : answer.error().detail;
}

Result<void> SlotKeeper::drop_slot() {
  const auto dropped = ask(fmt::format(
      "SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots "
      "WHERE slot_name = {}",
      quoted_literal(follow_.slot)));
  if (dropped) return {};
  return fail(replication_error(dropped.error()));
}

Result<void> SlotKeeper::drop_publication() {
  const auto dropped =
      ask(fmt::format("DROP PUBLICATION IF EXISTS {}", quoted_identifier(publication())));
  if (!dropped) return fail(dropped.error());
  return {};
}

Result<void> SlotKeeper::end_process(int process) {
  const auto ended = ask(fmt::format("SELECT pg_catalog.pg_terminate_backend({})", process));
  if (!ended) return fail(ended.error());
  return {};
}

}  // namespace guestlist::postgres
