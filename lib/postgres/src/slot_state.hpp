#pragma once

// A replication slot as `pg_replication_slots` has it now, and what is wrong with it.
//
// Threads: pure functions of an answer.

#include <cstdint>
#include <optional>
#include <string>

#include "libpq.hpp"

namespace guestlist::postgres {

struct SlotState {
  /// One row, also where there is no such slot. `columns` many.
  static std::string query(const std::string& slot);
  static SlotState read(const PGresult* answer, int first_column);
  static constexpr int columns = 9;

  /// Why nothing can be followed by it; nothing where it is as it should be.
  std::optional<std::string> fault() const;
  /// The log that the server keeps because of it.
  std::uint64_t retained_bytes() const noexcept {
    return restart_lsn == 0 || server_end < restart_lsn ? 0 : server_end - restart_lsn;
  }

  bool exists = false;
  bool is_ours = false;  ///< of this database, and of pgoutput
  int active_pid = 0;    ///< 0 where nobody follows by it
  std::uint64_t confirmed_lsn = 0;
  std::uint64_t restart_lsn = 0;
  std::string wal_status;
  std::string invalidation;
  /// The end of the log, as far as it is flushed.
  std::uint64_t server_end = 0;
  std::string holder;  ///< who follows by it: application and address
};

}  // namespace guestlist::postgres
