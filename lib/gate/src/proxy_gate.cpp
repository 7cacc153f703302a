#include "guestlist/gate/proxy_gate.hpp"

#include <utility>

namespace guestlist {
namespace {

PreparedResponse render(ProxyDialect dialect, const Route* route, Verdict verdict,
                        Decision decision) {
  GateFinding finding;
  finding.route = route;
  finding.verdict = verdict;
  finding.decision = decision;
  return PreparedResponse(answer_to(dialect, finding));
}

constexpr std::size_t kind_of(ProxyDialect dialect) noexcept {
  return dialect == ProxyDialect::nginx ? 0 : 1;
}

}  // namespace

std::optional<ProxyDialect> dialect_of(std::string_view target) noexcept {
  constexpr std::string_view all = "/auth/";
  if (!target.starts_with(all)) return std::nullopt;
  target.remove_prefix(all.size());
  const std::string_view name = target.substr(0, target.find_first_of("/?"));
  if (name == "nginx") return ProxyDialect::nginx;
  if (name == "envoy") return ProxyDialect::envoy;
  if (name == "forward") return ProxyDialect::forward;
  return std::nullopt;
}

std::shared_ptr<const ProxyGate> ProxyGate::make(RouteTable routes) {
  return std::shared_ptr<const ProxyGate>(new ProxyGate(std::move(routes)));
}

ProxyGate::ProxyGate(RouteTable routes)
    : unmatched_(render(ProxyDialect::forward, nullptr, {}, Decision::pass)),
      routes_(std::move(routes)) {
  for (const ProxyDialect dialect : {ProxyDialect::nginx, ProxyDialect::forward}) {
    for (const auto& route : routes_.routes()) {
      const auto reject = [&](Verdict verdict) {
        return render(dialect, route.get(), verdict, Decision::reject);
      };
      rejections_[kind_of(dialect)].emplace(
          route.get(),
          Rejections{reject(Verdict::absent()), reject(Verdict::unknown(Reason::unparsable))});
    }
  }
  if (routes_.routes().empty()) return;
  const Route* const any = routes_.routes().front().get();
  for (const Answer answer : {Answer::unknown, Answer::maybe, Answer::absent}) {
    for (int reason = 0; reason <= static_cast<int>(Reason::switched_off); ++reason) {
      const Verdict verdict{answer, static_cast<Reason>(reason)};
      passes_.emplace(std::pair(verdict.answer, verdict.reason),
                      render(ProxyDialect::forward, any, verdict, Decision::pass));
    }
  }
}

const PreparedResponse& ProxyGate::answer_to(ProxyDialect dialect,
                                             const GateFinding& finding) const {
  if (finding.route == nullptr) return unmatched_;
  if (finding.rejects()) {
    const Rejections& rejections = rejections_[kind_of(dialect)].at(finding.route);
    return finding.verdict.is_absent() ? rejections.absent : rejections.unparsable;
  }
  const auto found = passes_.find({finding.verdict.answer, finding.verdict.reason});
  return found == passes_.end() ? unmatched_ : found->second;
}

bool ProxyGate::answer(const HttpRequestView& request, Deadline deadline,
                       const Responder& respond) const {
  const auto dialect = dialect_of(request.target);
  if (!dialect) return false;
  const auto question = question_of(*dialect, request);
  if (!question) {
    respond(unmatched_);
    return true;
  }
  judge(routes_, *question, deadline,
        [self = shared_from_this(), dialect = *dialect, respond](const GateFinding& finding) {
          respond(self->answer_to(dialect, finding));
        });
  return true;
}

}  // namespace guestlist
