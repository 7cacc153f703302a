#include "guestlist/gate/route_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "guestlist/hash/composite_key.hpp"
#include "route_pattern.hpp"

namespace guestlist {
namespace {

using gate::NamedPattern;
using gate::Pattern;
using gate::RoutePattern;

/// Keys in one request.
constexpr std::size_t max_keys = 1000;

bool equal_without_case(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// `shop.example:8080` is that host too.
std::string_view without_port(std::string_view host) noexcept {
  const auto colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  host = host.substr(0, has_port ? colon : host.size());
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

class PatternRoute final : public Route {
 public:
  PatternRoute(RouteSpec spec, std::shared_ptr<GatedFilter> filter, RoutePattern pattern)
      : Route(std::move(spec), std::move(filter)), pattern_(std::move(pattern)) {}

  const RoutePattern& pattern() const noexcept { return pattern_; }

  /// What stands in the places, in their order; nothing where the request is not this route's.
  std::optional<std::vector<std::string>> find(const GateQuestion& question,
                                               const RequestTarget& target) const {
    if (!spec().host.empty() && !equal_without_case(spec().host, without_port(question.host)))
      return std::nullopt;
    if (!pattern_.allows(question.method) || pattern_.segments.size() != target.segments.size())
      return std::nullopt;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < pattern_.segments.size(); ++i)
      if (!take(pattern_.segments[i], target.segments[i], values)) return std::nullopt;
    for (const NamedPattern& parameter : pattern_.query) {
      const auto value = target.parameter(parameter.name);
      if (!value || !take(parameter.pattern, *value, values)) return std::nullopt;
    }
    if (pattern_.header) {
      const auto value = question.header ? question.header(pattern_.header->name) : std::nullopt;
      if (!value || !take(pattern_.header->pattern, *value, values)) return std::nullopt;
    }
    return values;
  }

 private:
  static bool take(const Pattern& pattern, std::string_view text,
                   std::vector<std::string>& values) {
    const auto found = pattern.find(text);
    if (found && !pattern.place.empty()) values.emplace_back(*found);
    return found.has_value();
  }

  const RoutePattern pattern_;
};

const PatternRoute& as_pattern(const Route& route) {
  return static_cast<const PatternRoute&>(route);
}

Result<void> check_places(const RoutePattern& pattern, const RouteSpec& spec,
                          const GatedFilter& filter) {
  const auto places = pattern.places();
  const auto refuse = [&](const std::string& what) {
    return fail(Errc::invalid_argument, fmt::format("'{}': {}", spec.match, what));
  };
  if (places.size() != filter.key().size()) {
    return refuse(fmt::format("it has {} place{} for the key of filter '{}', which has {} column{}",
                              places.size(), places.size() == 1 ? "" : "s", filter.name(),
                              filter.key().size(), filter.key().size() == 1 ? "" : "s"));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i]->type && *places[i]->type != filter.key()[i]) {
      return refuse(fmt::format("'{}' is {} here and {} in filter '{}'", places[i]->place,
                                name(*places[i]->type), name(filter.key()[i]), filter.name()));
    }
    if (places[i]->is_list && places.size() > 1)
      return refuse("a list of keys needs a key of one column");
  }
  return {};
}

/// The canonical key of the values of one key's columns.
std::optional<std::string> canonical_key(const std::vector<KeyType>& types,
                                         const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < types.size(); ++i) {
    std::string buffer;
    const auto canonical = canonicalize(types[i], values[i], buffer);
    if (!canonical) return std::nullopt;
    parts.emplace_back(*canonical);
  }
  return parts.size() == 1 ? std::move(parts.front()) : join_key(parts);
}

/// `1,2,3`; nothing where there are too many or one is empty.
std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> items;
  while (items.size() < max_keys) {
    const auto comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
  return {};
}

RouteMatch match_of(const PatternRoute& route, const std::vector<std::string>& values) {
  RouteMatch match{&route, {}, fmt::format("{}", fmt::join(values, ","))};
  const auto& types = route.filter().key();
  if (!route.pattern().places().front()->is_list) {
    if (auto key = canonical_key(types, values)) match.keys.push_back(*std::move(key));
    return match;
  }
  for (const std::string& item : list_of(values.front())) {
    auto key = canonical_key(types, {item});
    if (!key) return {&route, {}, match.raw_key};
    match.keys.push_back(*std::move(key));
  }
  return match;
}

}  // namespace

RouteTable::RouteTable(RouteTable&&) noexcept = default;
RouteTable& RouteTable::operator=(RouteTable&&) noexcept = default;
RouteTable::~RouteTable() = default;

Result<RouteTable> RouteTable::make(const std::vector<RouteSpec>& routes, const FindFilter& find) {
  RouteTable table;
  for (const RouteSpec& spec : routes) {
    const auto refuse = [&](const std::string& what) {
      return fail(Errc::invalid_argument,
                  fmt::format("route {}: {}", table.routes_.size() + 1, what));
    };
    auto filter = find(spec.filter);
    if (filter == nullptr) return refuse(fmt::format("there is no filter '{}'", spec.filter));
    auto pattern = RoutePattern::parse(spec.match, spec.header);
    if (!pattern) return refuse(pattern.error().detail);
    if (auto fits = check_places(*pattern, spec, *filter); !fits)
      return refuse(fits.error().detail);
    for (const auto& earlier : table.routes_) {
      const bool same_hosts = earlier->spec().host.empty() || earlier->spec().host == spec.host;
      if (same_hosts && as_pattern(*earlier).pattern().covers(*pattern)) {
        return refuse(fmt::format("'{}' is never reached: '{}' before it matches the same requests",
                                  spec.match, earlier->spec().match));
      }
    }
    table.routes_.push_back(
        std::make_unique<PatternRoute>(spec, std::move(filter), *std::move(pattern)));
  }
  return table;
}

RouteMatch RouteTable::match(const GateQuestion& question) const {
  const auto target = RequestTarget::parse(question.target);
  if (!target) return {};
  for (const auto& route : routes_) {
    const PatternRoute& pattern = as_pattern(*route);
    if (const auto values = pattern.find(question, *target)) return match_of(pattern, *values);
  }
  return {};
}

}  // namespace guestlist
