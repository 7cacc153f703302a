#include "service_client.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

namespace guestlist {
namespace {

constexpr std::chrono::milliseconds patience = std::chrono::seconds(10);

}  // namespace

Result<ServiceClient> ServiceClient::connect(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  std::string_view rest = url;
  if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  std::uint16_t port = 0;
  const char* const end = rest.data() + rest.size();
  const bool has_port = colon != std::string_view::npos &&
                        std::from_chars(rest.data() + colon + 1, end, port).ptr == end && port > 0;
  if (!has_port) {
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is no service; write http://127.0.0.1:8700", url));
  }
  ServerConfig server;
  server.address = rest.substr(0, colon);
  if (server.address == "localhost") server.address = "127.0.0.1";
  server.port = port;
  return connect(server);
}

Result<ServiceClient> ServiceClient::connect(const ServerConfig& server) {
  const std::string address = server.address == "0.0.0.0" ? "127.0.0.1" : server.address;
  auto client = HttpClient::connect(address, server.port, patience);
  if (!client) {
    return fail(client.error().code, client.error().detail +
                                         ": no service answers there; 'guestlist serve CONFIG' "
                                         "starts one");
  }
  return ServiceClient(*std::move(client));
}

Result<boost::json::object> ServiceClient::get(const std::string& target) {
  HttpRequest request;
  request.target = target;
  return send(request);
}

Result<boost::json::object> ServiceClient::post(const std::string& target,
                                                const boost::json::object& body) {
  HttpRequest request;
  request.method = "POST";
  request.target = target;
  request.body = boost::json::serialize(body);
  return send(request);
}

Result<boost::json::object> ServiceClient::send(const HttpRequest& request) {
  const auto response = client_.send(request);
  if (!response) return fail(response.error());
  boost::system::error_code code;
  const boost::json::value value = boost::json::parse(response->body, code);
  if (code || !value.is_object())
    return fail(Errc::unavailable, "what answers there is no guestlist service");
  if (response->status / 100 != 2) {
    const auto* detail = value.get_object().if_contains("detail");
    return fail(Errc::unavailable, detail != nullptr && detail->is_string()
                                       ? std::string(detail->get_string())
                                       : fmt::format("the service says {}", response->status));
  }
  return value.get_object();
}

}  // namespace guestlist
