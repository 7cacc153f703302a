#include "examination.hpp"

#include <fmt/format.h>

#include <utility>

#include "server_readiness.hpp"
#include "slot_keeper.hpp"
#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

/// Questions about one table, in an order in which an answer makes sense of the next.
class Examination {
 public:
  Examination(const PostgresOptions& options, const PostgresTable& table,
              const PostgresFollowOptions& follow, Deadline deadline)
      : options_(options), table_(table), follow_(follow), deadline_(deadline) {}

  std::vector<Finding> run() {
    auto session = Session::open(options_, deadline_);
    if (!session) {
      unreachable(session.error());
      return std::move(findings_);
    }
    if (auto asked = ask(*session); !asked) error(asked.error().message(), "try again");
    return std::move(findings_);
  }

 private:
  Result<void> ask(Session& session) {
    // Whatever is asked below, it changes nothing and makes nobody wait.
    const auto set = session.run("SET default_transaction_read_only = on; SET lock_timeout = '1s'",
                                 {}, deadline_);
    if (!set) return fail(set.error());
    if (auto direct = look_for_pooler(session); !direct) return direct;
    const auto answer = session.run(SlotState::query(follow_.slot), {}, deadline_);
    if (!answer) return fail(answer.error());
    const SlotState slot = SlotState::read(answer->get(), 0);
    const auto facts = session.run(ServerReadiness::query(table_, follow_), {}, deadline_);
    if (!facts) return fail(facts.error());
    const ServerReadiness server = ServerReadiness::read(facts->get());
    server.judge_server(slot, findings_);
    judge(slot);
    if (auto looked = look_at_table(session, server); !looked) return looked;
    server.judge_synchronous(follow_, findings_);
    look_at_replication(server);
    return {};
  }

  Result<void> look_for_pooler(Session& session) {
    const auto answer = session.run("SELECT pg_catalog.pg_backend_pid()", {}, deadline_);
    if (!answer) return fail(answer.error());
    if (std::to_string(session.process_id()) != PQgetvalue(answer->get(), 0, 0)) {
      error("a connection pooler is between us and PostgreSQL, and it does not pass replication on",
            "give the address of PostgreSQL itself");
    }
    return {};
  }

  void judge(const SlotState& slot) {
    if (!slot.exists) return;
    if (!slot.is_ours) {
      error(fmt::format("the replication slot '{}' is of another database or plugin", follow_.slot),
            "choose another name for the slot");
    } else if (const auto fault = slot.fault()) {
      warning(*fault, "nothing: it is made again when the table is followed next");
    } else if (slot.retained_bytes() > follow_.max_retained_bytes) {
      warning(
          fmt::format("PostgreSQL keeps {} MiB of its log for the slot '{}', more than the {} "
                      "MiB that it may",
                      slot.retained_bytes() >> 20, follow_.slot, follow_.max_retained_bytes >> 20),
          "nothing: it is dropped and made again when the table is followed next");
    } else if (slot.active_pid != 0) {
      good(fmt::format("the replication slot '{}' is followed by pid {}{}{}", follow_.slot,
                       slot.active_pid, slot.holder.empty() ? "" : ", ", slot.holder));
    }
  }

  Result<void> look_at_table(Session& session, const ServerReadiness& server) {
    const auto answer = session.run(FollowedTable::query(table_, follow_), {}, deadline_);
    if (!answer) return fail(answer.error());
    const FollowedTable table = FollowedTable::read(answer->get(), table_, follow_);
    if (const auto obstacle = table.obstacle()) {
      // What is, and after the semicolon what to do.
      const std::string& detail = obstacle->detail;
      const auto semicolon = detail.rfind("; ");
      error(detail.substr(0, semicolon), semicolon == std::string::npos
                                             ? "give the name of a table and of its columns"
                                             : detail.substr(semicolon + 2));
      return {};
    }
    server.judge_table(findings_);
    const auto columns =
        session.run(KeyTable::catalog_query(), KeyTable::catalog_values(table_), deadline_);
    if (!columns) return fail(columns.error());
    if (const auto keys = KeyTable::read(table_, columns->get()); !keys)
      error(keys.error().message(), "choose a key column of a type that can be read");
    judge_publication(table, server, session.server_version());
    return {};
  }

  void judge_publication(const FollowedTable& table, const ServerReadiness& server, int version) {
    const std::string name = follow_.publication.empty() ? follow_.slot : follow_.publication;
    const auto fault = table.publication_fault();
    if (!fault) return good(fmt::format("the publication '{}' will do", name));
    const std::string make = table.create_publication(version);
    const std::string drop = fmt::format("DROP PUBLICATION {}; ", quoted_identifier(name));
    if (table.publication_breaks_writes()) {
      error(fmt::format("because of the publication '{}' PostgreSQL refuses updates and deletes of "
                        "the table",
                        name),
            fmt::format("run {}{}", drop, make));
    } else if (!server.may_publish) {
      error(fmt::format("the publication '{}' will not do ({}), and the role '{}' may not make it",
                        name, *fault, server.role),
            fmt::format("the table's owner runs: {}{}", table.has_publication() ? drop : "", make));
    } else if (table.has_publication()) {
      warning(fmt::format("the publication '{}' will not do: {}", name, *fault),
              "nothing: it is made again when the table is followed next");
    } else {
      good(fmt::format("the publication '{}' is made when the table is followed", name));
    }
  }

  /// Whether a session that sends the log is let in. It is closed again at once.
  void look_at_replication(const ServerReadiness& server) {
    if (!server.may_replicate || server.senders_free <= 0) return;
    const auto logical = Session::open(options_, deadline_, SessionKind::logical_replication);
    if (!logical) {
      error(fmt::format("a replication connection is refused: {}", logical.error().message()),
            "connect to PostgreSQL itself and not to a pooler, and let the role in by pg_hba.conf");
    }
    if (!follow_.is_synchronous || !logical) return;
    const auto physical = Session::open(options_, deadline_, SessionKind::physical_replication);
    if (!physical) {
      warning(fmt::format("commits that wait cannot be let go while a new slot is made: {}",
                          physical.error().message()),
              "add a line 'host replication …' for the role to pg_hba.conf and reload PostgreSQL");
    }
  }

  void unreachable(const Error& why) {
    const std::string& detail = why.detail;
    const bool is_standby = detail.find("hot standby") != std::string::npos ||
                            detail.find("read-only") != std::string::npos;
    const bool is_pooler = detail.find("unsupported startup parameter") != std::string::npos;
    error(why.message(),
          is_standby ? "give the address of the primary: a standby cannot be followed"
          : is_pooler
              ? "give the address of PostgreSQL itself and not of a pooler"
              : "check the address, that PostgreSQL runs, and that pg_hba.conf lets the role in");
  }

  void error(std::string what, std::string fix) {
    findings_.push_back({Severity::error, std::move(what), std::move(fix)});
  }
  void warning(std::string what, std::string fix) {
    findings_.push_back({Severity::warning, std::move(what), std::move(fix)});
  }
  void good(std::string what) { findings_.push_back({Severity::good, std::move(what), ""}); }

  const PostgresOptions& options_;
  const PostgresTable& table_;
  const PostgresFollowOptions& follow_;
  const Deadline deadline_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine(const PostgresOptions& options, const PostgresTable& table,
                             const PostgresFollowOptions& follow, Deadline deadline) {
  return Examination(options, table, follow, deadline).run();
}

}  // namespace guestlist::postgres
