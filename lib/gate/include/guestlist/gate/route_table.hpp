#pragma once

// Which requests ask which filter, and with what key.
//
// A route is `GET /products/{id}`: methods (GET and HEAD where none is given), a path with the
// key's places, perhaps a query. `/u/{tenant}/o/{id}` has a key of two columns, `/search?sku={sku}`
// takes a parameter, `/p/{id}.json` text around a place, `/batch?ids={id,...}` a list of keys; a
// header field can hold a part (`X-Tenant: {tenant}`). `{id:int}` says the type, which must be the
// filter's. The first route that matches counts; a request that matches none passes.
//
// Distinct objects: safe. Shared objects: safe, a table does not change. Tested by: RouteTable.*.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/gate/gated_filter.hpp"
#include "guestlist/gate/request_target.hpp"

namespace guestlist {

struct RouteSpec {
  std::string match = {};
  std::string host = {};  ///< empty: any
  std::string header = {};
  std::string filter = {};
  Mode mode = Mode::shadow;
  std::uint32_t percent = 100;  ///< of the keys, where the mode is `enforce`
  unsigned reject_status = 404;
  std::string reject_body = {};
  std::string reject_content_type = "text/plain";
};

/// What a proxy was asked for.
struct GateQuestion {
  std::string_view method = "GET";
  std::string_view host = {};
  std::string_view target = {};
  /// The value of a header field of the request, where it is there once.
  std::function<std::optional<std::string_view>(std::string_view name)> header = {};
};

class Route;

struct RouteMatch {
  const Route* route = nullptr;  ///< nothing matched: nullptr
  /// The key's canonical bytes, one for each that the request names; empty where one of them has no
  /// canonical form or the target is odd.
  std::vector<std::string> keys = {};
  /// As they stood in the request, for people.
  std::string raw_key = {};
};

class RouteTable {
 public:
  using FindFilter = std::function<std::shared_ptr<GatedFilter>(const std::string& name)>;
  /// Errors: `invalid_argument` with the number of the route, what is wrong in it and what to
  /// write.
  static Result<RouteTable> make(const std::vector<RouteSpec>& routes, const FindFilter& find);
  RouteTable(RouteTable&&) noexcept;
  RouteTable& operator=(RouteTable&&) noexcept;
  ~RouteTable();

  RouteMatch match(const GateQuestion& question) const;
  const std::vector<std::unique_ptr<Route>>& routes() const noexcept { return routes_; }

 private:
  RouteTable() = default;
  std::vector<std::unique_ptr<Route>> routes_;
};

/// One route: its specification and its filter. Matching is the table's.
class Route {
 public:
  Route(RouteSpec spec, std::shared_ptr<GatedFilter> filter)
      : spec_(std::move(spec)), filter_(std::move(filter)) {}
  virtual ~Route() = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;

  const RouteSpec& spec() const noexcept { return spec_; }
  GatedFilter& filter() const noexcept { return *filter_; }

 private:
  const RouteSpec spec_;
  const std::shared_ptr<GatedFilter> filter_;
};

}  // namespace guestlist
