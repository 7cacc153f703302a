#include "service/explanation.hpp"

#include "service/filter_report_json.hpp"

namespace guestlist {

GateFinding explain_question(const RouteTable& routes, const GateQuestion& question) {
  GateFinding found;
  examine(routes, question, Deadline::never(),
          [&](GateFinding finding) { found = std::move(finding); });
  return found;
}

boost::json::object to_json(const GateFinding& finding) {
  boost::json::object object;
  if (finding.route == nullptr) {
    object["route"] = nullptr;
  } else {
    const RouteSpec& spec = finding.route->spec();
    const GatedFilter& filter = finding.route->filter();
    object["route"] = spec.match;
    object["filter"] = spec.filter;
    object["mode"] = name(filter.mode().value_or(spec.mode));
    object["percent"] = spec.percent;
    object["raw_key"] = finding.raw_key;
    object["canonical_key"] = finding.canonical_key;
  }
  object["verdict"] = name(finding.verdict.answer);
  object["reason"] = finding.reason();
  object["decision"] = finding.rejects() ? "reject" : "pass";
  return object;
}

}  // namespace guestlist
