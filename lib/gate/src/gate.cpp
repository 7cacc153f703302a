#include "guestlist/gate/gate.hpp"

#include <xxhash.h>

#include <algorithm>

namespace guestlist {
namespace {

/// One key's place from 0 to 99; the same in every process.
std::uint32_t percentile(std::string_view key) noexcept {
  return static_cast<std::uint32_t>(XXH3_64bits(key.data(), key.size()) % 100);
}

Mode mode_of(const Route& route) noexcept {
  return route.filter().mode().value_or(route.spec().mode);
}

/// Of several keys the request is as good as the best of them: all must be absent.
Verdict together(std::span<const Verdict> verdicts) noexcept {
  for (const Verdict verdict : verdicts)
    if (!verdict.is_absent()) return verdict;
  return verdicts.empty() ? Verdict::unknown(Reason::unparsable) : Verdict::absent();
}

void finish(GateFinding finding, const std::function<void(GateFinding)>& done) {
  const Route& route = *finding.route;
  finding.decision = decide(finding.verdict, mode_of(route), route.spec().percent,
                            percentile(finding.canonical_key), false);
  done(std::move(finding));
}

/// What is no spelling of a key exists in no table.
void finish_unparsable(GateFinding finding, const std::function<void(GateFinding)>& done) {
  finding.verdict = Verdict::unknown(Reason::unparsable);
  const GatedFilter& filter = finding.route->filter();
  if (filter.is_strict()) {
    finding.decision = decide(Verdict::absent(), mode_of(*finding.route),
                              finding.route->spec().percent, percentile(finding.raw_key), false);
  }
  done(std::move(finding));
}

}  // namespace

std::string_view GateFinding::reason() const noexcept {
  return route == nullptr ? "unmatched" : name(verdict.reason);
}

void judge(const RouteTable& routes, const GateQuestion& question, Deadline deadline,
           const std::function<void(GateFinding)>& done) {
  examine(routes, question, deadline, [done](GateFinding finding) {
    if (finding.route != nullptr) finding.route->filter().count(finding.verdict, finding.decision);
    done(std::move(finding));
  });
}

void examine(const RouteTable& routes, const GateQuestion& question, Deadline deadline,
             const std::function<void(GateFinding)>& done) {
  RouteMatch match = routes.match(question);
  GateFinding finding;
  finding.route = match.route;
  if (match.route == nullptr) return done(std::move(finding));
  finding.raw_key = std::move(match.raw_key);
  if (match.keys.empty()) return finish_unparsable(std::move(finding), done);
  finding.canonical_key = match.keys.front();
  GatedFilter& filter = match.route->filter();
  if (mode_of(*match.route) == Mode::pass) {
    finding.verdict = Verdict::unknown(Reason::switched_off);
    return finish(std::move(finding), done);
  }
  const std::vector<std::string_view> keys(match.keys.begin(), match.keys.end());
  filter.membership().check(
      keys, deadline, [finding = std::move(finding), done](std::span<const Verdict> verdicts) {
        GateFinding found = finding;
        found.verdict = together(verdicts);
        finish(std::move(found), done);
      });
}

namespace {

template <class Request>
std::optional<GateQuestion> read_question(ProxyDialect dialect, const Request& request) {
  GateQuestion question;
  question.header = [&request](std::string_view name) { return request.field(name); };
  question.host = request.field("Host").value_or("");
  switch (dialect) {
    case ProxyDialect::nginx: {
      const auto target = request.field("X-Original-URI");
      if (!target) return std::nullopt;
      question.target = *target;
      question.method = request.field("X-Original-Method").value_or("GET");
      question.host = request.field("X-Original-Host").value_or(question.host);
      return question;
    }
    case ProxyDialect::envoy: {
      constexpr std::string_view prefix = "/auth/envoy";
      question.target = std::string_view(request.target).substr(prefix.size());
      question.method = request.method;
      return question;
    }
    case ProxyDialect::forward: {
      const auto target = request.field("X-Forwarded-Uri");
      if (!target) return std::nullopt;
      question.target = *target;
      question.method = request.field("X-Forwarded-Method").value_or("GET");
      question.host = request.field("X-Forwarded-Host").value_or(question.host);
      return question;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<GateQuestion> question_of(ProxyDialect dialect, const HttpRequest& request) {
  return read_question(dialect, request);
}
std::optional<GateQuestion> question_of(ProxyDialect dialect, const HttpRequestView& request) {
  return read_question(dialect, request);
}

HttpResponse answer_to(ProxyDialect dialect, const GateFinding& finding) {
  HttpResponse response;
  response.content_type.clear();
  response.fields = {{"Cache-Control", "no-store"},
                     {"X-Guestlist-Verdict", std::string(name(finding.verdict.answer))},
                     {"X-Guestlist-Reason", std::string(finding.reason())}};
  if (!finding.rejects()) return response;
  const RouteSpec& spec = finding.route->spec();
  response.status = dialect == ProxyDialect::nginx ? 403 : spec.reject_status;
  response.body = spec.reject_body;
  response.content_type = spec.reject_content_type;
  return response;
}

}  // namespace guestlist
