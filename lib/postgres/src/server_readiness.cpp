#include "server_readiness.hpp"

#include <fmt/format.h>

#include <charconv>

#include "key_table.hpp"
#include "sql_text.hpp"
#include "sync_standbys.hpp"

namespace guestlist::postgres {
namespace {

// {0}: the table's quoted name; {1}: key columns, an array; both as literals; {2}: milliseconds
// that a new slot waits.
constexpr std::string_view readiness_sql = R"(
WITH target AS (
  SELECT c.oid, c.relowner FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass({0})
)
SELECT current_setting('server_version_num'), current_user, current_setting('application_name'),
  current_setting('wal_level'), pg_is_in_recovery(),
  (SELECT rolsuper OR rolreplication OR EXISTS (
     SELECT FROM pg_catalog.pg_roles g
     WHERE g.rolname = 'rds_replication' AND pg_has_role(current_user, g.oid, 'MEMBER'))
   FROM pg_catalog.pg_roles WHERE rolname = current_user),
  current_setting('max_replication_slots')::bigint
    - (SELECT count(*) FROM pg_catalog.pg_replication_slots),
  current_setting('max_wal_senders')::bigint
    - (SELECT count(*) FROM pg_catalog.pg_stat_replication),
  (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_slot_wal_keep_size'),
  (SELECT min(a.attname) FROM target
     JOIN pg_catalog.pg_attribute a ON a.attrelid = target.oid AND a.attnum > 0
     WHERE a.attname = ANY ({1}::text[]) AND NOT a.attisdropped
       AND NOT has_column_privilege(target.oid, a.attnum, 'SELECT')),
  (SELECT row_security_active(oid) FROM target),
  (SELECT pg_has_role(relowner, 'USAGE') FROM target)
    AND has_database_privilege(current_database(), 'CREATE'),
  current_setting('synchronous_standby_names'),
  (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'synchronous_commit'),
  (SELECT string_agg(who, ', ') FROM (
     SELECT concat_ws(' ', 'pid', pid, nullif(application_name, ''), usename) AS who
     FROM pg_catalog.pg_stat_activity
     WHERE backend_xid IS NOT NULL AND xact_start < now() - {2} * interval '1 millisecond'
     UNION ALL
     SELECT concat_ws(' ', 'prepared transaction', gid) FROM pg_catalog.pg_prepared_xacts
     WHERE prepared < now() - {2} * interval '1 millisecond'
     LIMIT 10) AS open)
)";

constexpr int first_version_that_will_do = 140'000;

std::int64_t number(const char* digits) {
  const std::string_view text(digits);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string ServerReadiness::query(const PostgresTable& table,
                                   const PostgresFollowOptions& follow) {
  const std::vector<std::optional<std::string>> names(table.key_columns.begin(),
                                                      table.key_columns.end());
  return fmt::format(
      fmt::runtime(readiness_sql), quoted_literal(KeyTable::quoted_name(table)),
      quoted_literal(array_literal(names)),
      std::chrono::duration_cast<std::chrono::milliseconds>(follow.slot_timeout).count());
}

ServerReadiness ServerReadiness::read(const PGresult* answer) {
  int column = 0;
  const auto text = [&] { return PQgetvalue(answer, 0, column++); };
  const auto is = [&] { return std::string_view(text()) == "t"; };
  ServerReadiness read;
  read.version = static_cast<int>(number(text()));
  read.role = text();
  read.application_name = text();
  read.wal_level = text();
  read.is_standby = is();
  read.may_replicate = is();
  read.slots_free = number(text());
  read.senders_free = number(text());
  read.keep_size = number(text());
  read.unreadable_column = text();
  read.hides_rows = is();
  read.may_publish = is();
  read.synchronous_standby_names = text();
  read.synchronous_commit = text();
  read.long_writers = text();
  return read;
}

void ServerReadiness::judge_server(const SlotState& slot, std::vector<Finding>& findings) const {
  const auto found = [&](Severity severity, std::string what, std::string fix) {
    findings.push_back({severity, std::move(what), std::move(fix)});
  };
  if (version < first_version_that_will_do) {
    found(Severity::error, fmt::format("PostgreSQL {} is too old to be followed", version / 10'000),
          "upgrade PostgreSQL to 14 or later");
  }
  if (is_standby) {
    found(Severity::error, "the server is a standby, and changes are followed on the primary",
          "give the address of the primary");
  }
  if (wal_level != "logical") {
    found(Severity::error,
          fmt::format("wal_level is '{}', and changes of rows are not in the log", wal_level),
          "set wal_level = logical in postgresql.conf and restart PostgreSQL");
  } else {
    found(Severity::good, "wal_level is 'logical'", "");
  }
  if (!may_replicate) {
    found(Severity::error, fmt::format("the role '{}' has no right to replicate", role),
          fmt::format("run ALTER ROLE {0} REPLICATION, or GRANT rds_replication TO {0} where the "
                      "provider wants that",
                      quoted_identifier(role)));
  }
  if (!slot.exists && slots_free <= 0) {
    found(Severity::error, "all replication slots are taken",
          "raise max_replication_slots and restart PostgreSQL, or drop a slot that is not used");
  }
  if (slot.active_pid == 0 && senders_free <= 0) {
    found(Severity::error, "all connections that send the log are taken",
          "raise max_wal_senders and restart PostgreSQL, or end one of them");
  }
  if (keep_size < 0) {
    found(
        Severity::warning,
        "max_slot_wal_keep_size has no bound: while no follower runs, the log that is kept for it "
        "grows until the disk is full",
        "set max_slot_wal_keep_size to what the disk can spare; a slot that is lost is made "
        "again by itself");
  }
  if (!slot.exists && !long_writers.empty()) {
    found(Severity::warning,
          fmt::format("a new replication slot waits for transactions that have written and are "
                      "open: {}",
                      long_writers),
          "end them");
  }
}

void ServerReadiness::judge_table(std::vector<Finding>& findings) const {
  if (!unreadable_column.empty()) {
    findings.push_back(
        {Severity::error,
         fmt::format("the role '{}' may not read the column '{}'", role, unreadable_column),
         fmt::format("run GRANT SELECT on the table TO {}", quoted_identifier(role))});
  }
  if (hides_rows) {
    findings.push_back({Severity::error,
                        fmt::format("a row security policy hides rows from the role '{}'", role),
                        fmt::format("run ALTER ROLE {} BYPASSRLS, or connect as the table's owner",
                                    quoted_identifier(role))});
  }
}

void ServerReadiness::judge_synchronous(const PostgresFollowOptions& follow,
                                        std::vector<Finding>& findings) const {
  const SyncStandbys standbys = SyncStandbys::parse(synchronous_standby_names);
  const bool is_named = standbys.holds(application_name);
  const auto found = [&](Severity severity, std::string what, std::string fix) {
    findings.push_back({severity, std::move(what), std::move(fix)});
  };
  if (!follow.is_synchronous) {
    if (is_named) {
      found(Severity::warning,
            fmt::format("commits wait for '{}', as synchronous_standby_names says, and this "
                        "follower is not meant to be waited for",
                        application_name),
            "follow synchronously, or take the name out of synchronous_standby_names");
    }
    return;
  }
  if (!is_named) {
    found(Severity::error,
          fmt::format("no commit waits for '{}': synchronous_standby_names is '{}'",
                      application_name, synchronous_standby_names),
          fmt::format("set synchronous_standby_names = 'ANY 1 ({})' and reload PostgreSQL",
                      quoted_identifier(application_name)));
    return;
  }
  if (standbys.names.size() > standbys.wanted) {
    found(Severity::warning,
          fmt::format("a commit waits for {} of {} standbys, so it may become visible before '{}' "
                      "has it; every one of them has to be a follower that verdicts agree with",
                      standbys.wanted, standbys.names.size(), application_name),
          "take verdicts only from followers that are waited for, or name this one alone");
  } else {
    found(Severity::warning,
          fmt::format("commits hang while '{}' is away, for each of them waits for it",
                      application_name),
          "watch that it runs; let a second follower take its place on the same name");
  }
  if (synchronous_commit == "off" || synchronous_commit == "local") {
    found(Severity::error,
          fmt::format("synchronous_commit is '{}', so no commit waits", synchronous_commit),
          "set synchronous_commit = on; a transaction that lowers it for itself is covered by the "
          "lease alone");
  } else if (synchronous_commit == "remote_write") {
    found(Severity::good, "synchronous_commit is 'remote_write', which waits for us as 'on' does",
          "");
  }
}

}  // namespace guestlist::postgres
