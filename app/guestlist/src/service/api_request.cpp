#include "service/api_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "guestlist/hash/composite_key.hpp"
#include "service/filter_report_json.hpp"

namespace guestlist {
namespace {

namespace json = boost::json;

constexpr std::string_view keys_expected =
    R"(expected {"keys": [...]} with texts or whole numbers, or lists of them for a key of several columns)";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> decode_query(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

/// A number that was written without a fraction means the same to everybody.
std::optional<std::string> scalar_text(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (const auto* number = value.if_int64()) return std::to_string(*number);
  if (const auto* number = value.if_uint64()) return std::to_string(*number);
  return std::nullopt;
}

Result<std::vector<std::string>> values_of(const json::value& value) {
  if (auto single = scalar_text(value)) return std::vector<std::string>{*std::move(single)};
  const auto* list = value.if_array();
  if (list == nullptr) return fail(Errc::invalid_argument, std::string(keys_expected));
  std::vector<std::string> values;
  for (const json::value& part : *list) {
    auto text = scalar_text(part);
    if (!text) return fail(Errc::invalid_argument, std::string(keys_expected));
    values.push_back(*std::move(text));
  }
  return values;
}

Result<json::object> read_object(std::string_view body) {
  boost::system::error_code code;
  const json::value value = json::parse(body, code);
  if (code) return fail(Errc::invalid_argument, "the body is no JSON: " + code.message());
  const auto* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid_argument, "the body is no JSON object");
  return *object;
}

}  // namespace

std::optional<ApiTarget> ApiTarget::parse(std::string_view raw) {
  if (!raw.starts_with('/')) return std::nullopt;
  const auto question = raw.find('?');
  ApiTarget target;
  for (const std::string_view part :
       split(raw.substr(1, question == std::string_view::npos ? question : question - 1), '/')) {
    auto decoded = percent_decode(part);
    if (!decoded) return std::nullopt;
    target.segments_.push_back(*std::move(decoded));
  }
  if (question == std::string_view::npos) return target;
  for (const std::string_view part : split(raw.substr(question + 1), '&')) {
    const auto equals = part.find('=');
    auto name = decode_query(part.substr(0, equals));
    auto value = decode_query(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!name || !value) return std::nullopt;
    target.query_.emplace_back(*std::move(name), *std::move(value));
  }
  return target;
}

bool ApiTarget::matches(std::string_view pattern, std::string& name) const {
  const std::vector<std::string_view> parts = split(pattern.substr(1), '/');
  if (parts.size() != segments_.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "{name}" && !segments_[i].empty())
      name = segments_[i];
    else if (parts[i] != segments_[i])
      return false;
  }
  return true;
}

std::optional<std::string_view> ApiTarget::parameter(std::string_view name) const {
  for (const auto& [parameter, value] : query_)
    if (parameter == name) return value;
  return std::nullopt;
}

std::vector<std::string> ApiTarget::parameters(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [parameter, value] : query_)
    if (parameter == name) values.push_back(value);
  return values;
}

Result<ApiKey> read_key(std::span<const std::string> values, const std::vector<KeyType>& columns) {
  if (values.size() != columns.size()) {
    return fail(Errc::invalid_argument,
                fmt::format("a key of this filter has {} column{}, not {}", columns.size(),
                            columns.size() == 1 ? "" : "s", values.size()));
  }
  ApiKey key{join_key(values), std::nullopt};
  std::vector<std::string> canonical;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string buffer;
    const auto part = canonicalize(columns[i], values[i], buffer);
    if (!part) return key;
    canonical.emplace_back(*part);
  }
  key.canonical = join_key(canonical);
  return key;
}

Result<std::vector<ApiKey>> read_keys(std::string_view body, const std::vector<KeyType>& columns) {
  const auto object = read_object(body);
  if (!object) return fail(object.error());
  const json::value* const list = object->if_contains("keys");
  if (list == nullptr || !list->is_array())
    return fail(Errc::invalid_argument, std::string(keys_expected));
  std::vector<ApiKey> keys;
  for (const json::value& item : list->get_array()) {
    const auto values = values_of(item);
    if (!values) return fail(values.error());
    auto key = read_key(*values, columns);
    if (!key) return fail(std::move(key).error());
    keys.push_back(*std::move(key));
  }
  return keys;
}

Result<std::optional<Mode>> read_mode(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return fail(object.error());
  const json::value* const value = object->if_contains("mode");
  if (value != nullptr && value->is_null()) return std::optional<Mode>();
  std::optional<Mode> mode;
  if (value != nullptr && value->is_string())
    mode = mode_from_name(std::string_view(value->get_string()));
  if (!mode) {
    return fail(Errc::invalid_argument,
                R"(expected {"mode": "shadow"}, "enforce", "pass", or null for each route's own)");
  }
  return mode;
}

HttpResponse json_response(unsigned status, const json::object& body) {
  return {
      status, json::serialize(body) + '\n', "application/json", {{"Cache-Control", "no-store"}}};
}

HttpResponse problem(unsigned status, std::string_view detail) {
  HttpResponse response = json_response(status, {{"type", "about:blank"},
                                                 {"title", reason_phrase(status)},
                                                 {"status", status},
                                                 {"detail", detail}});
  response.content_type = "application/problem+json";
  return response;
}

}  // namespace guestlist
