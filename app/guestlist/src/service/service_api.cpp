#include "service/service_api.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "service/api_request.hpp"
#include "service/explanation.hpp"
#include "service/filter_report_json.hpp"
#include "service/service.hpp"
#include "service/web_pages.hpp"

namespace guestlist {
namespace {

namespace json = boost::json;

constexpr Duration add_patience = std::chrono::seconds(5);

struct Call {
  Service& service;
  std::shared_ptr<const Serving> serving;
  const HttpRequest& request;
  const ApiTarget& target;
  std::shared_ptr<ServedFilter> filter;  ///< the one that the path names
};

HttpResponse page(std::string_view content_type, std::string body) {
  return {200, std::move(body), std::string(content_type), {{"Cache-Control", "no-cache"}}};
}

json::object state_of(const Service& service) {
  json::array filters;
  for (const FilterReport& report : service.serving()->report()) filters.push_back(to_json(report));
  return {{"time", format_time(std::chrono::system_clock::now())},
          {"ready", service.is_ready()},
          {"uptime_seconds", service.counts().uptime_seconds},
          {"filters", std::move(filters)}};
}

HttpResponse dashboard(const Call&) {
  HttpResponse response = page("text/html; charset=utf-8", std::string(web::dashboard_html));
  response.fields.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
      "connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'");
  return response;
}

HttpResponse health(const Call&) {
  return page("text/plain", "alive\n");
}

HttpResponse readiness(const Call& call) {
  if (call.service.is_ready()) return page("text/plain", "ready\n");
  std::string text;
  for (const FilterReport& report : call.serving->report()) {
    if (report.follow.reason == Reason::none) continue;
    text += fmt::format("{}: {}{}{}\n", report.name, name(report.follow.reason),
                        report.follow.trouble.empty() ? "" : ": ", report.follow.trouble);
  }
  HttpResponse response = page("text/plain", text.empty() ? "draining\n" : text);
  response.status = 503;
  return response;
}

HttpResponse metrics(const Call& call) {
  return page("text/plain; version=0.0.4; charset=utf-8",
              metrics_text(call.serving->report(), call.service.counts()));
}

HttpResponse openapi(const Call&) {
  return page("application/json", std::string(web::openapi_json));
}

HttpResponse list(const Call& call) {
  return json_response(200, state_of(call.service));
}

void events(const Call& call, const HttpServer::Respond& respond) {
  call.service.show_state_to(respond.stream());
}

HttpResponse explain(const Call& call) {
  const auto url = call.target.parameter("url");
  if (!url) return problem(400, "explain needs ?url=, as in /v1/explain?url=%2Fproducts%2F7");
  const std::string method(call.target.parameter("method").value_or("GET"));
  const std::string host(call.target.parameter("host").value_or(""));
  GateQuestion question;
  question.method = method;
  question.host = host;
  question.target = *url;
  question.header = [&](std::string_view name) { return call.request.field(name); };
  return json_response(200, to_json(explain_question(call.serving->gate->routes(), question)));
}

HttpResponse show(const Call& call) {
  return json_response(200, to_json(call.filter->report()));
}

json::object verdict_object(const ApiKey& key, Verdict verdict) {
  return {{"key", key.shown}, {"verdict", name(verdict.answer)}, {"reason", name(verdict.reason)}};
}

std::vector<Verdict> check_keys(const Call& call, const std::vector<ApiKey>& keys) {
  std::vector<Verdict> verdicts(keys.size(), Verdict::unknown(Reason::unparsable));
  std::vector<std::string_view> canonical;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].canonical) continue;
    canonical.push_back(*keys[i].canonical);
    places.push_back(i);
  }
  if (canonical.empty()) return verdicts;
  // A filter of this process answers before the call returns.
  call.filter->followed().check(canonical, Deadline::never(), [&](std::span<const Verdict> found) {
    for (std::size_t i = 0; i < found.size(); ++i) verdicts[places[i]] = found[i];
  });
  return verdicts;
}

HttpResponse check_one(const Call& call) {
  const std::vector<std::string> values = call.target.parameters("key");
  if (values.empty())
    return problem(400, "check needs ?key=, once for each column of the key; POST takes many keys");
  const auto key = read_key(values, call.filter->gate().key());
  if (!key) return problem(400, key.error().detail);
  return json_response(200, verdict_object(*key, check_keys(call, {*key}).front()));
}

HttpResponse check_many(const Call& call) {
  const auto keys = read_keys(call.request.body, call.filter->gate().key());
  if (!keys) return problem(400, keys.error().detail);
  const std::vector<Verdict> verdicts = check_keys(call, *keys);
  json::array found;
  std::array<std::uint64_t, 3> counts{};
  for (std::size_t i = 0; i < keys->size(); ++i) {
    found.push_back(verdict_object((*keys)[i], verdicts[i]));
    ++counts.at(static_cast<std::size_t>(verdicts[i].answer));
  }
  return json_response(200, {{"verdicts", std::move(found)},
                             {"unknown", counts[0]},
                             {"maybe", counts[1]},
                             {"absent", counts[2]}});
}

HttpResponse rebuild(const Call& call) {
  call.filter->followed().request_rebuild();
  return json_response(202, to_json(call.filter->report()));
}

HttpResponse set_mode(const Call& call) {
  const auto mode = read_mode(call.request.body);
  if (!mode) return problem(400, mode.error().detail);
  call.filter->gate().set_mode(*mode);
  return json_response(200, to_json(call.filter->report()));
}

void add_keys(const Call& call, const HttpServer::Respond& respond) {
  const auto keys = read_keys(call.request.body, call.filter->gate().key());
  if (!keys) return respond(problem(400, keys.error().detail));
  std::vector<std::string_view> canonical;
  for (const ApiKey& key : *keys) {
    if (!key.canonical)
      return respond(
          problem(400, fmt::format("'{}' is no spelling of a key; nothing was added", key.shown)));
    canonical.push_back(*key.canonical);
  }
  const SteadyClock clock;
  call.filter->followed().add(
      canonical, Deadline::after(add_patience, clock),
      [respond, count = canonical.size()](const Result<void>& added) {
        respond(added ? json_response(200, {{"added", count}})
                      : problem(503, "the keys may not be on the list; do not commit them: " +
                                         added.error().message()));
      });
}

enum class Needs : std::uint8_t { nothing, token };

struct Endpoint {
  std::string_view method;
  std::string_view path;  ///< `{name}` is a filter
  Needs needs;
  HttpResponse (*answer)(const Call&);
  void (*answer_later)(const Call&, const HttpServer::Respond&) = nullptr;
};

constexpr Endpoint endpoints[] = {
    {"GET", "/", Needs::nothing, dashboard},
    {"GET", "/healthz", Needs::nothing, health},
    {"GET", "/readyz", Needs::nothing, readiness},
    {"GET", "/metrics", Needs::nothing, metrics},
    {"GET", "/v1/openapi.json", Needs::nothing, openapi},
    {"GET", "/v1/events", Needs::nothing, nullptr, events},
    {"GET", "/v1/explain", Needs::nothing, explain},
    {"GET", "/v1/filters", Needs::nothing, list},
    {"GET", "/v1/filters/{name}", Needs::nothing, show},
    {"GET", "/v1/filters/{name}/check", Needs::nothing, check_one},
    {"POST", "/v1/filters/{name}/check", Needs::nothing, check_many},
    {"POST", "/v1/filters/{name}/keys", Needs::token, nullptr, add_keys},
    {"POST", "/v1/filters/{name}/rebuild", Needs::token, rebuild},
    {"PUT", "/v1/filters/{name}/mode", Needs::token, set_mode},
};

std::optional<HttpResponse> refuse_without_token(const Call& call) {
  const std::string& token = call.serving->config.server.token;
  if (token.empty()) {
    return problem(403,
                   "nothing may be changed over HTTP: set token in [server] of the configuration");
  }
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view given = call.request.field("Authorization").value_or("");
  const bool is_right =
      given.starts_with(scheme) && given.size() == scheme.size() + token.size() &&
      sodium_memcmp(given.data() + scheme.size(), token.data(), token.size()) == 0;
  if (is_right) return std::nullopt;
  HttpResponse response = problem(401, "this needs 'Authorization: Bearer TOKEN'");
  response.fields.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

std::string state_json(const Service& service) {
  return json::serialize(state_of(service));
}

void answer_api(Service& service, const HttpRequest& request, const HttpServer::Respond& respond) {
  const auto target = ApiTarget::parse(request.target);
  if (!target) return respond(problem(400, "the target is no valid path"));
  const std::string_view method =
      request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (const Endpoint& endpoint : endpoints) {
    std::string filter;
    if (!target->matches(endpoint.path, filter)) continue;
    if (endpoint.method != method) {
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", endpoint.method);
      continue;
    }
    Call call{service, service.serving(), request, *target, nullptr};
    if (!filter.empty()) {
      const auto found = call.serving->filters.find(filter);
      if (found == call.serving->filters.end())
        return respond(problem(404, fmt::format("there is no filter '{}'", filter)));
      call.filter = found->second;
    }
    if (endpoint.needs == Needs::token)
      if (auto refusal = refuse_without_token(call)) return respond(*std::move(refusal));
    if (endpoint.answer_later != nullptr) return endpoint.answer_later(call, respond);
    return respond(endpoint.answer(call));
  }
  if (allowed.empty())
    return respond(problem(404, "there is nothing here; /v1/openapi.json says what there is"));
  HttpResponse response = problem(405, fmt::format("{} is not for this; {} is", method, allowed));
  response.fields.emplace_back("Allow", allowed);
  respond(std::move(response));
}

}  // namespace guestlist
