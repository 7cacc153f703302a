#pragma once

// The service's JSON interface, its pages and its probes. openapi.json is its description, and a
// test holds the two together.
//
//   GET  /                              the dashboard
//   GET  /healthz /readyz /metrics
//   GET  /v1/filters, /v1/filters/{name}, /v1/events, /v1/explain, /v1/openapi.json
//   GET  /v1/filters/{name}/check?key=…      one key; POST: many
//   POST /v1/filters/{name}/keys, …/rebuild; PUT …/mode      with the token
//
// Errors are `application/problem+json` (RFC 9457).
//
// Threads: pure functions over the service.

#include <string>

#include "guestlist/http/http_server.hpp"

namespace guestlist {

class Service;

/// The state of all filters, as one JSON object.
std::string state_json(const Service& service);

void answer_api(Service& service, const HttpRequest& request, const HttpServer::Respond& respond);

}  // namespace guestlist
