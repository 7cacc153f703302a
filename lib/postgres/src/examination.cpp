#include "examination.hpp"

#include "slot_keeper.hpp"

namespace guestlist::postgres {

std::vector<Finding> examine(const PostgresOptions& options, const PostgresTable& table,
                             const PostgresFollowOptions& follow, Deadline) {
  std::vector<Finding> findings;
  auto keeper = SlotKeeper::open(options, table, follow);
  if (!keeper) findings.push_back({Severity::error, keeper.error().message(), "check the address"});
  return findings;
}

}  // namespace guestlist::postgres
