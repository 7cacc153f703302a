#pragma once

// Which log this is: of which server, on which timeline, for which database.
//
// Threads: pure functions of an answer.

#include <cstdint>
#include <string>

#include "libpq.hpp"

namespace guestlist::postgres {

struct ServerIdentity {
  static std::string query();
  static ServerIdentity read(const PGresult* answer);

  /// What stands before the `@` of every position: two positions with different origins have
  /// nothing to do with each other. A promoted standby has another timeline.
  std::string origin(const std::string& slot, const std::string& table_stamp) const;
  /// What became of the log since a position of `origin` was reached; nothing where it is the same.
  std::string difference(const std::string& origin, const std::string& slot,
                         const std::string& table_stamp) const;

  std::string system;
  std::string timeline;
  std::string database;
  bool is_standby = false;
  std::string wal_level;
};

}  // namespace guestlist::postgres
