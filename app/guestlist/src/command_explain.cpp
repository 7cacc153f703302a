#include <fmt/format.h>

#include "commands.hpp"
#include "guestlist/http/http_message.hpp"
#include "service_client.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string config;
  std::string url;
  std::string method = "GET";
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("CONFIG", options.config, "The configuration file of the service")->required();
  command.add_option("URL", options.url, "The request's target or URL, as /products/7")->required();
  command.add_option("--method", options.method, "Its method")->capture_default_str();
  declare_json(command, options.json);
}

struct Target {
  std::string host;
  std::string path;
};

Target target_of(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return {"", url.starts_with('/') ? url : "/" + url};
  const auto path = url.find('/', scheme + 3);
  if (path == std::string::npos) return {url.substr(scheme + 3), "/"};
  return {url.substr(scheme + 3, path - scheme - 3), url.substr(path)};
}

std::string text_of(const boost::json::object& found) {
  std::string text;
  for (const auto& [name, value] : found) {
    const std::string shown = value.is_string() ? std::string(value.get_string())
                              : value.is_null() ? "none matches; the request passes"
                                                : fmt::format("{}", value.to_number<double>());
    text += fmt::format("{:<14} {}\n", std::string_view(name), shown);
  }
  return text;
}

CallResult run(const Options& options) {
  const auto config = read_service_config(options.config);
  if (!config) return fail(config.error());
  auto client = ServiceClient::connect(config->server);
  if (!client) return fail(std::move(client).error());
  const Target target = target_of(options.url);
  const auto found =
      client->get(fmt::format("/v1/explain?url={}&method={}&host={}", percent_encode(target.path),
                              percent_encode(options.method), percent_encode(target.host)));
  if (!found) return fail(found.error());
  print_result(options.json, *found, text_of(*found));
  return Exit::success;
}

}  // namespace

void add_explain(CallTable& calls) {
  calls.add<Options>("explain", "Ask a running service why a request passes or is rejected",
                     declare, run);
}

}  // namespace guestlist
