#pragma once

// Calls to a service that runs.

#include <boost/json/object.hpp>
#include <string>

#include "guestlist/http/http_client.hpp"
#include "service/service_config.hpp"

namespace guestlist {

class ServiceClient {
 public:
  /// `url`: `http://127.0.0.1:8700`. Errors: `invalid_argument`; `unavailable`, with what to do.
  static Result<ServiceClient> connect(const std::string& url);
  static Result<ServiceClient> connect(const ServerConfig& server);

  /// Errors: `unavailable`; the service's own refusal.
  Result<boost::json::object> get(const std::string& target);
  Result<boost::json::object> post(const std::string& target, const boost::json::object& body);

 private:
  explicit ServiceClient(HttpClient client) : client_(std::move(client)) {}
  Result<boost::json::object> send(const HttpRequest& request);
  HttpClient client_;
};

}  // namespace guestlist
