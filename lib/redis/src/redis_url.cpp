#include "guestlist/redis/redis_url.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace guestlist {
namespace {

struct Scheme {
  std::string_view prefix;
  RedisTopology topology;
  bool tls;
};

constexpr std::array schemes = {
    Scheme{"redis://", RedisTopology::standalone, false},
    Scheme{"rediss://", RedisTopology::standalone, true},
    Scheme{"redis+cluster://", RedisTopology::cluster, false},
    Scheme{"rediss+cluster://", RedisTopology::cluster, true},
    Scheme{"redis+sentinel://", RedisTopology::sentinel, false},
    Scheme{"rediss+sentinel://", RedisTopology::sentinel, true},
};

const Scheme* scheme_of(std::string_view text) noexcept {
  for (const Scheme& scheme : schemes) {
    if (text.substr(0, scheme.prefix.size()) == scheme.prefix) {
      return &scheme;
    }
  }
  return nullptr;
}

tl::unexpected<Error> bad(std::string_view what) {
  return fail(
      Errc::invalid_argument,
      fmt::format("the Redis URL {}; its form is redis://[user[:password]@]host[:port][/db], "
                  "redis+cluster://host:port,… or redis+sentinel://host:port,…/MASTER[/db]",
                  what));
}

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return out;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// Cuts `text` at the first `separator`: what stands before it is returned, what stands after it
/// remains; without one everything is returned.
std::string_view cut(std::string_view& text, char separator) noexcept {
  const auto at = text.find(separator);
  const auto head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

Result<RedisEndpoint> parse_endpoint(std::string_view text, std::uint16_t default_port) {
  RedisEndpoint endpoint;
  endpoint.port = default_port;
  std::string_view port;
  if (text.substr(0, 1) == "[") {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      return bad("has a '[' without its ']'");
    }
    endpoint.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port[0] != ':') {
      return bad("has something other than a port after ']'");
    }
    port = port.empty() ? port : port.substr(1);
  } else {
    const auto colon = text.rfind(':');
    endpoint.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  }
  if (endpoint.host.empty()) {
    return bad("names no host");
  }
  if (!port.empty()) {
    const auto value = number_in<std::uint16_t>(port);
    if (!value || *value == 0) {
      return bad(fmt::format("has the port '{}', which is no number from 1 to 65535", port));
    }
    endpoint.port = *value;
  }
  return endpoint;
}

Result<void> parse_login(std::string_view login, RedisUrl& url) {
  auto rest = login;
  const bool has_password = login.find(':') != std::string_view::npos;
  auto user = percent_decoded(cut(rest, ':'));
  auto password = percent_decoded(rest);
  if (!user || !password) {
    return bad("has a '%' in user or password that is not followed by two hexadecimal digits");
  }
  url.user = std::move(*user);
  url.password = has_password ? std::move(*password) : std::string{};
  return {};
}

Result<void> parse_parameters(std::string_view text, RedisUrl& url) {
  while (!text.empty()) {
    auto value = cut(text, '&');
    const auto name = cut(value, '=');
    auto decoded = percent_decoded(value);
    if (!decoded) {
      return bad(
          fmt::format("has a '%' in the parameter '{}' that is not followed by two "
                      "hexadecimal digits",
                      name));
    }
    if (!url.parameters.emplace(std::string(name), std::move(*decoded)).second) {
      return bad(fmt::format("has the parameter '{}' twice", name));
    }
  }
  return {};
}

Result<void> parse_path(std::string_view path, RedisUrl& url) {
  if (url.topology == RedisTopology::sentinel) {
    auto master = percent_decoded(cut(path, '/'));
    if (!master || master->empty()) {
      return bad("names no master after the Sentinels");
    }
    url.master = std::move(*master);
  }
  if (path.empty()) {
    return {};
  }
  const auto database = number_in<int>(path);
  if (!database || *database < 0) {
    return bad(fmt::format("has '{}' where a database number belongs", path));
  }
  if (*database != 0 && url.topology == RedisTopology::cluster) {
    return bad("has a database number, and a Cluster has only database 0");
  }
  url.database = *database;
  return {};
}

}  // namespace

std::string RedisEndpoint::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<RedisUrl> RedisUrl::parse(std::string_view text) {
  const Scheme* scheme = scheme_of(text);
  if (scheme == nullptr) {
    return bad("has an unknown scheme");
  }
  RedisUrl url;
  url.topology = scheme->topology;
  url.tls = scheme->tls;

  auto parameters = text.substr(scheme->prefix.size());
  auto path = cut(parameters, '?');
  auto authority = cut(path, '/');
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto parsed = parse_login(authority.substr(0, at), url); !parsed) {
      return fail(std::move(parsed).error());
    }
    authority.remove_prefix(at + 1);
  }
  const std::uint16_t default_port = url.topology == RedisTopology::sentinel ? 26379 : 6379;
  do {
    auto endpoint = parse_endpoint(cut(authority, ','), default_port);
    if (!endpoint) {
      return fail(std::move(endpoint).error());
    }
    url.endpoints.push_back(std::move(*endpoint));
  } while (!authority.empty());
  if (url.endpoints.size() > 1 && url.topology == RedisTopology::standalone) {
    return bad("names several servers; write redis+cluster:// or redis+sentinel://");
  }
  if (auto parsed = parse_path(path, url); !parsed) {
    return fail(std::move(parsed).error());
  }
  if (auto parsed = parse_parameters(parameters, url); !parsed) {
    return fail(std::move(parsed).error());
  }
  return url;
}

std::string RedisUrl::text() const {
  std::string out;
  for (const Scheme& scheme : schemes) {
    if (scheme.topology == topology && scheme.tls == tls) {
      out = scheme.prefix;
    }
  }
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    out += (i == 0 ? "" : ",") + endpoints[i].text();
  }
  if (!master.empty()) {
    out += "/" + master;
  }
  if (database != 0) {
    out += fmt::format("/{}", database);
  }
  return out;
}

std::string_view RedisUrl::parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view{} : std::string_view(found->second);
}

bool is_redis_url(std::string_view text) noexcept {
  const auto scheme = text.substr(0, text.find("://"));
  return scheme.size() != text.size() &&
         (scheme.substr(0, 6) == "redis+" || scheme.substr(0, 7) == "rediss+" ||
          scheme == "redis" || scheme == "rediss");
}

}  // namespace guestlist
