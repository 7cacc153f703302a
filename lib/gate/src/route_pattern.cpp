#include "route_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace guestlist::gate {
namespace {

tl::unexpected<Error> refuse(std::string_view text, std::string_view what) {
  return fail(Errc::invalid_argument, fmt::format("'{}': {}", text, what));
}

bool is_name(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<Pattern> parse_pattern(std::string_view text) {
  Pattern pattern;
  const auto open = text.find('{');
  if (open == std::string_view::npos) {
    if (text.find('}') != std::string_view::npos) return refuse(text, "a '}' without a '{'");
    pattern.before = text;
    return pattern;
  }
  const auto close = text.find('}', open);
  if (close == std::string_view::npos) return refuse(text, "a '{' without a '}'");
  pattern.before = text.substr(0, open);
  pattern.after = text.substr(close + 1);
  if (pattern.after.find_first_of("{}") != std::string::npos)
    return refuse(text, "one place between two slashes is all that can be told apart");
  std::string_view inside = text.substr(open + 1, close - open - 1);
  constexpr std::string_view list_mark = ",...";
  if (inside.ends_with(list_mark)) {
    pattern.is_list = true;
    inside.remove_suffix(list_mark.size());
  }
  const auto colon = inside.find(':');
  pattern.place = inside.substr(0, colon);
  if (!is_name(pattern.place)) return refuse(text, "a place is '{name}' or '{name:type}'");
  if (colon == std::string_view::npos) return pattern;
  pattern.type = key_type_from_name(inside.substr(colon + 1));
  if (!pattern.type) return refuse(text, "the types are int, uuid, text, bytes, decimal");
  return pattern;
}

Result<void> parse_path(std::string_view path, std::vector<Pattern>& segments) {
  std::string_view rest = path.substr(1);
  while (true) {
    const auto slash = rest.find('/');
    const std::string_view text = rest.substr(0, slash);
    const bool is_last = slash == std::string_view::npos;
    if ((text.empty() && !is_last) || text == "." || text == "..")
      return refuse(path, "a path without empty segments, '.' and '..'");
    if (text.find_first_of("%;\\") != std::string_view::npos)
      return refuse(path, "write the path decoded, without '%', ';' and '\\'");
    auto pattern = parse_pattern(text);
    if (!pattern) return fail(std::move(pattern).error());
    segments.push_back(*std::move(pattern));
    if (is_last) return {};
    rest.remove_prefix(slash + 1);
  }
}

Result<void> parse_query(std::string_view text, std::vector<NamedPattern>& query) {
  while (!text.empty()) {
    const auto end = text.find('&');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return refuse(one, "a parameter is name={place}, or name=text that must be there");
    auto pattern = parse_pattern(one.substr(equals + 1));
    if (!pattern) return fail(std::move(pattern).error());
    query.push_back({std::string(one.substr(0, equals)), *std::move(pattern)});
  }
  return {};
}

Result<std::optional<NamedPattern>> parse_header(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return refuse(text, "a header is 'Name: {place}'");
  std::string_view value = text.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  auto pattern = parse_pattern(value);
  if (!pattern) return fail(std::move(pattern).error());
  return NamedPattern{std::string(text.substr(0, colon)), *std::move(pattern)};
}

/// Whether every text that fits `other` fits `pattern`.
bool covers(const Pattern& pattern, const Pattern& other) noexcept {
  if (pattern.place.empty()) return other.place.empty() && pattern.before == other.before;
  if (other.place.empty()) return pattern.find(other.before).has_value();
  return other.before.starts_with(pattern.before) && other.after.ends_with(pattern.after);
}

}  // namespace

std::optional<std::string_view> Pattern::find(std::string_view text) const noexcept {
  if (place.empty()) return text == before ? std::optional(text) : std::nullopt;
  if (text.size() <= before.size() + after.size()) return std::nullopt;
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

Result<RoutePattern> RoutePattern::parse(std::string_view match, std::string_view header) {
  RoutePattern route;
  const auto slash = match.find('/');
  if (slash == std::string_view::npos)
    return refuse(match, "there is no path; write 'GET /products/{id}'");
  std::string_view methods = match.substr(0, slash);
  while (methods.ends_with(' ')) methods.remove_suffix(1);
  if (methods.empty()) methods = "GET,HEAD";
  while (!methods.empty()) {
    const auto end = methods.find(',');
    const std::string_view method = methods.substr(0, end);
    const bool is_upper =
        !method.empty() && std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!is_upper) return refuse(match, "methods are upper case, with ',' between them");
    route.methods.emplace_back(method);
    methods.remove_prefix(end == std::string_view::npos ? methods.size() : end + 1);
  }
  const std::string_view target = match.substr(slash);
  const auto mark = target.find('?');
  if (auto path = parse_path(target.substr(0, mark), route.segments); !path)
    return fail(std::move(path).error());
  if (mark != std::string_view::npos) {
    if (auto query = parse_query(target.substr(mark + 1), route.query); !query)
      return fail(std::move(query).error());
  }
  auto parsed = parse_header(header);
  if (!parsed) return fail(std::move(parsed).error());
  route.header = *std::move(parsed);
  return route;
}

std::vector<const Pattern*> RoutePattern::places() const {
  std::vector<const Pattern*> places;
  const auto take = [&](const Pattern& pattern) {
    if (!pattern.place.empty()) places.push_back(&pattern);
  };
  for (const Pattern& segment : segments) take(segment);
  for (const NamedPattern& parameter : query) take(parameter.pattern);
  if (header) take(header->pattern);
  return places;
}

bool RoutePattern::allows(std::string_view method) const noexcept {
  return std::ranges::find(methods, method) != methods.end();
}

bool RoutePattern::covers(const RoutePattern& other) const noexcept {
  if (segments.size() != other.segments.size() || !query.empty() || header) return false;
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!gate::covers(segments[i], other.segments[i])) return false;
  return std::ranges::all_of(other.methods,
                             [&](const std::string& method) { return allows(method); });
}

}  // namespace guestlist::gate
