#include "service/configured_routes.hpp"

#include <fmt/format.h>

#include <utility>

namespace guestlist {
namespace {

/// There is no filter.
class NoMembership final : public Membership {
 public:
  void check(std::span<const std::string_view> keys, Deadline, Verdicts done) override {
    done(std::vector<Verdict>(keys.size(), Verdict::unknown(Reason::missing)));
  }
  void add(std::span<const std::string_view>, Deadline, Completion<void> done) override {
    done(fail(Errc::not_found, "there is no filter"));
  }
  std::shared_ptr<const void> begin_write() override { return nullptr; }
};

RouteSpec spec_of(const RouteConfig& route) {
  RouteSpec spec;
  spec.match = route.match;
  spec.host = route.host;
  spec.header = route.header;
  spec.filter = route.filter;
  spec.mode = route.mode;
  spec.percent = route.percent;
  spec.reject_status = route.reject_status;
  spec.reject_body = route.reject_body;
  spec.reject_content_type = route.reject_content_type;
  return spec;
}

}  // namespace

Result<RouteTable> make_routes(const std::vector<RouteConfig>& routes,
                               const RouteTable::FindFilter& find) {
  std::vector<RouteSpec> specs;
  for (const RouteConfig& route : routes) specs.push_back(spec_of(route));
  auto table = RouteTable::make(specs, find);
  if (table) return table;
  // The error is of the last route of the shortest beginning that has one.
  std::size_t count = 1;
  while (
      RouteTable::make({specs.begin(), specs.begin() + static_cast<std::ptrdiff_t>(count)}, find))
    ++count;
  return fail(table.error().code,
              fmt::format("{}: {}", routes[count - 1].place.text(), table.error().detail));
}

Result<OfflineRoutes> OfflineRoutes::make(const ServiceConfig& config, const FilterKeys& keys) {
  static NoMembership nobody;
  std::map<std::string, std::shared_ptr<GatedFilter>> filters;
  for (const FilterConfig& filter : config.filters) {
    filters[filter.name] =
        std::make_shared<GatedFilter>(filter.name, keys.at(filter.name), filter.is_strict, nobody);
  }
  auto table =
      make_routes(config.routes, [&](const std::string& name) { return filters.at(name); });
  if (!table) return fail(std::move(table).error());
  return OfflineRoutes(*std::move(table));
}

}  // namespace guestlist
