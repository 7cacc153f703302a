#pragma once

// The verdict on a request, and how a proxy wants to hear it.
//
//   /auth/nginx    X-Original-URI, X-Original-Method; 200 or 403, since nginx keeps nothing else
//   /auth/envoy/…  method and path are the request's; 200 or the route's rejection
//   /auth/forward  X-Forwarded-Method, -Host, -Uri; 200 or the route's rejection (Traefik, Caddy,
//                  APISIX, HAProxy)
//
// Every answer says `Cache-Control: no-store`, `X-Guestlist-Verdict` and `X-Guestlist-Reason`. What
// is not understood passes.
//
// Distinct objects: safe. Shared objects: safe. Source: the documentation of each proxy,
// docs/operations/proxies. Tested by: Gate.*

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "guestlist/gate/route_table.hpp"
#include "guestlist/http/http_message.hpp"

namespace guestlist {

enum class ProxyDialect : std::uint8_t { nginx, envoy, forward };

/// What became of one request, in full.
struct GateFinding {
  const Route* route = nullptr;  ///< nullptr: none matched
  std::string raw_key = {};
  std::string canonical_key = {};  ///< of the first of several; empty where there is none
  Verdict verdict = Verdict::unknown(Reason::none);
  Decision decision = Decision::pass;

  bool rejects() const noexcept { return decision == Decision::reject; }
  /// `none` or the verdict's; `unmatched`, where no route matched.
  std::string_view reason() const noexcept;
};

/// Asks the filter that the table names, and counts nothing. `done` as in `judge`.
void examine(const RouteTable& routes, const GateQuestion& question, Deadline deadline,
             const std::function<void(GateFinding)>& done);

/// The same, counted by the filter. `done` is called once; for filters of this process before
/// the call returns. Requires: the table outlives the call.
void judge(const RouteTable& routes, const GateQuestion& question, Deadline deadline,
           const std::function<void(GateFinding)>& done);

/// The question that a proxy's request asks; nothing where a field is missing.
std::optional<GateQuestion> question_of(ProxyDialect dialect, const HttpRequest& request);
std::optional<GateQuestion> question_of(ProxyDialect dialect, const HttpRequestView& request);

HttpResponse answer_to(ProxyDialect dialect, const GateFinding& finding);

}  // namespace guestlist
