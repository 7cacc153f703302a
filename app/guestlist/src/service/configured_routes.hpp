#pragma once

// The routes that a configuration names.
//
// Distinct objects: safe. Shared objects: safe.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "guestlist/gate/route_table.hpp"
#include "service/service_config.hpp"

namespace guestlist {

/// Errors: `invalid_argument`, with the place of the route and what to write.
Result<RouteTable> make_routes(const std::vector<RouteConfig>& routes,
                               const RouteTable::FindFilter& find);

using FilterKeys = std::map<std::string, std::vector<KeyType>>;

/// Routes with filters that know nothing: to see whether a configuration is right, and which key a
/// request would ask for.
class OfflineRoutes {
 public:
  /// Requires: `keys` has every filter of the configuration. Errors: of `make_routes`.
  static Result<OfflineRoutes> make(const ServiceConfig& config, const FilterKeys& keys);
  const RouteTable& table() const noexcept { return table_; }

 private:
  explicit OfflineRoutes(RouteTable table) : table_(std::move(table)) {}
  RouteTable table_;
};

}  // namespace guestlist
