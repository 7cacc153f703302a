#pragma once

// What `synchronous_standby_names` says: who a commit waits for, and for how many of them.
//
// Threads: pure functions. Source: PostgreSQL 15, "Replication", synchronous_standby_names.
// Tested by: SyncStandbys.*

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace guestlist::postgres {

struct SyncStandbys {
  enum class Method : std::uint8_t { first, any };

  /// Of a text that the server has accepted. Empty names: no commit waits for anybody.
  static SyncStandbys parse(std::string_view setting);
  /// By name, whose case does not count, or by `*`.
  bool holds(std::string_view application_name) const;

  Method method = Method::first;
  std::size_t wanted = 1;
  std::vector<std::string> names = {};
};

}  // namespace guestlist::postgres
