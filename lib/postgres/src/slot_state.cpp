#include "slot_state.hpp"

#include <fmt/format.h>

#include <charconv>

#include "guestlist/postgres/postgres_lsn.hpp"
#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

constexpr std::string_view slot_sql = R"(
SELECT s.slot_name IS NOT NULL,
  coalesce(s.plugin = 'pgoutput' AND s.database = current_database() AND NOT s.temporary, false),
  coalesce(s.active_pid, 0), s.confirmed_flush_lsn, s.restart_lsn, s.wal_status,
  coalesce(nullif(to_jsonb(s) ->> 'invalidation_reason', ''),
           CASE WHEN to_jsonb(s) ->> 'conflicting' = 'true' THEN 'conflict' END),
  CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END,
  (SELECT concat_ws(' at ', nullif(r.application_name, ''), r.client_addr::text)
     FROM pg_catalog.pg_stat_replication r WHERE r.pid = s.active_pid)
FROM (SELECT 1) AS always
LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = {}
)";

std::uint64_t lsn(const char* text) {
  return PostgresLsn::parse(text).value_or(PostgresLsn{}).value;
}

}  // namespace

std::string SlotState::query(const std::string& slot) {
  return fmt::format(fmt::runtime(slot_sql), quoted_literal(slot));
}

SlotState SlotState::read(const PGresult* answer, int first_column) {
  const auto text = [&](int column) { return PQgetvalue(answer, 0, first_column + column); };
  const auto is = [&](int column) { return std::string_view(text(column)) == "t"; };
  SlotState state;
  state.exists = is(0);
  state.is_ours = is(1);
  const std::string_view pid = text(2);
  std::from_chars(pid.data(), pid.data() + pid.size(), state.active_pid);
  state.confirmed_lsn = lsn(text(3));
  state.restart_lsn = lsn(text(4));
  state.wal_status = text(5);
  state.invalidation = text(6);
  state.server_end = lsn(text(7));
  state.holder = text(8);
  return state;
}

std::optional<std::string> SlotState::fault() const {
  if (!exists) return "the replication slot is gone";
  if (!is_ours) return "the replication slot is of another database or plugin";
  if (!invalidation.empty())
    return fmt::format("PostgreSQL invalidated the replication slot: {}", invalidation);
  if (wal_status == "lost") {
    return "the replication slot is lost: the log that it needs was removed, as "
           "max_slot_wal_keep_size says";
  }
  return std::nullopt;
}

}  // namespace guestlist::postgres
