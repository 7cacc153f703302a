#pragma once

// Looks at a server, a table and a role before they are followed, and changes nothing.

#include <vector>

#include "guestlist/port/finding.hpp"
#include "guestlist/postgres/postgres_follow_options.hpp"
#include "guestlist/postgres/postgres_options.hpp"
#include "guestlist/postgres/postgres_table.hpp"

namespace guestlist::postgres {

std::vector<Finding> examine(const PostgresOptions& options, const PostgresTable& table,
                             const PostgresFollowOptions& follow, Deadline deadline);

}  // namespace guestlist::postgres
