#pragma once

// The server and this role, as far as following depends on them: one question that reads catalogs
// and settings alone, and the findings that come of it.
//
// Threads: pure functions of an answer.

#include <cstdint>
#include <string>
#include <vector>

#include "guestlist/port/finding.hpp"
#include "guestlist/postgres/postgres_follow_options.hpp"
#include "guestlist/postgres/postgres_table.hpp"
#include "libpq.hpp"
#include "slot_state.hpp"

namespace guestlist::postgres {

struct ServerReadiness {
  /// One row.
  static std::string query(const PostgresTable& table, const PostgresFollowOptions& follow);
  static ServerReadiness read(const PGresult* answer);

  /// Version, settings, rights and room of the server.
  void judge_server(const SlotState& slot, std::vector<Finding>& findings) const;
  /// What the role may read.
  void judge_table(std::vector<Finding>& findings) const;
  /// Who a commit waits for.
  void judge_synchronous(const PostgresFollowOptions& follow, std::vector<Finding>& findings) const;

  int version = 0;
  std::string role;
  std::string application_name;
  std::string wal_level;
  bool is_standby = false;
  bool may_replicate = false;
  std::int64_t slots_free = 0;
  std::int64_t senders_free = 0;
  /// In MiB; -1 for no bound.
  std::int64_t keep_size = -1;
  /// A key column that the role may not read.
  std::string unreadable_column;
  bool hides_rows = false;
  bool may_publish = false;
  std::string synchronous_standby_names;
  std::string synchronous_commit;
  /// Transactions that have written and are open for longer than a new slot waits for them.
  std::string long_writers;
};

}  // namespace guestlist::postgres
