#include "server_identity.hpp"

#include <fmt/format.h>

#include <vector>

namespace guestlist::postgres {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    const std::size_t slash = text.find('/', at);
    parts.push_back(text.substr(at, slash - at));
    if (slash == std::string::npos) return parts;
    at = slash + 1;
  }
}

}  // namespace

std::string ServerIdentity::query() {
  return "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()), "
         "CASE WHEN pg_is_in_recovery() THEN '' "
         "ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END, "
         "(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()), "
         "pg_is_in_recovery(), current_setting('wal_level')";
}

ServerIdentity ServerIdentity::read(const PGresult* answer) {
  const auto text = [&](int column) { return std::string(PQgetvalue(answer, 0, column)); };
  ServerIdentity read;
  read.system = text(0);
  read.timeline = text(1);
  read.database = text(2);
  read.is_standby = text(3) == "t";
  read.wal_level = text(4);
  return read;
}

std::string ServerIdentity::origin(const std::string& slot, const std::string& table_stamp) const {
  return fmt::format("postgres/{}/{}/{}/{}/{}", system, timeline, database, slot, table_stamp);
}

std::string ServerIdentity::difference(const std::string& origin, const std::string& slot,
                                       const std::string& table_stamp) const {
  const auto was = split(origin);
  const auto is = split(this->origin(slot, table_stamp));
  if (was == is) return "";
  if (was.size() != is.size() || was[0] != is[0]) return "the position is none of this source";
  if (was[1] != is[1])
    return fmt::format("the server is another one: system {} and not {}", is[1], was[1]);
  if (was[2] != is[2]) {
    return fmt::format("a standby was promoted: the log is of timeline {} and not {}", is[2],
                       was[2]);
  }
  if (was[3] != is[3]) return "the position is of another database";
  if (was[4] != is[4]) return "the position is of another replication slot";
  return "the table, its partitions, its key columns or its publication were changed or made anew";
}

}  // namespace guestlist::postgres
