#pragma once

// Routes with the answers to every verdict rendered beforehand: what a server asks first, in its
// event loop. A filter of this process is answered before the call returns, without a copy of the
// request.
//
// Distinct objects: safe. Shared objects: safe, a gate does not change; a reload makes another one.
// Tested by: Proxies.*

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "guestlist/gate/gate.hpp"
#include "guestlist/http/responder.hpp"

namespace guestlist {

class ProxyGate : public std::enable_shared_from_this<ProxyGate> {
 public:
  /// The gate lives as long as requests are under way.
  static std::shared_ptr<const ProxyGate> make(RouteTable routes);

  const RouteTable& routes() const noexcept { return routes_; }

  /// True where the request is a proxy's question; it is answered then, or will be. A filter that
  /// is elsewhere has until the deadline.
  bool answer(const HttpRequestView& request, Deadline deadline, const Responder& respond) const;

 private:
  explicit ProxyGate(RouteTable routes);
  const PreparedResponse& answer_to(ProxyDialect dialect, const GateFinding& finding) const;

  struct Rejections {
    PreparedResponse absent;
    PreparedResponse unparsable;
  };
  /// nginx is told another status than the others.
  std::array<std::map<const Route*, Rejections>, 2> rejections_;
  std::map<std::pair<Answer, Reason>, PreparedResponse> passes_;
  PreparedResponse unmatched_;
  const RouteTable routes_;
};

/// The dialect that a server's target names: `/auth/nginx`, `/auth/envoy` with anything behind it,
/// `/auth/forward`.
std::optional<ProxyDialect> dialect_of(std::string_view target) noexcept;

}  // namespace guestlist
