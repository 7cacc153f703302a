#include "service/filter_report_json.hpp"

#include <boost/json/value.hpp>

namespace guestlist {
namespace {

double seconds(Duration span) noexcept {
  return std::chrono::duration<double>(span).count();
}

template <class T>
boost::json::value or_null(const std::optional<T>& value) {
  return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

boost::json::value building_of(const FollowStatus& follow) {
  if (!follow.is_building) return nullptr;
  boost::json::value seconds_left = nullptr;
  if (follow.keys_to_build && follow.built_keys > 0) {
    const auto built = static_cast<double>(follow.built_keys);
    const auto all = static_cast<double>(*follow.keys_to_build);
    seconds_left = all > built ? follow.building_seconds * (all - built) / built : 0.0;
  }
  return boost::json::object{{"why", name(follow.building_why)},
                             {"keys", follow.built_keys},
                             {"keys_expected", or_null(follow.keys_to_build)},
                             {"seconds", follow.building_seconds},
                             {"seconds_left", seconds_left}};
}

boost::json::object verdicts_of(const GateCounts& gate) {
  boost::json::object verdicts{{"maybe", 0}, {"absent", 0}};
  boost::json::object unknown;
  for (const auto& [verdict, count] : gate.verdicts) {
    if (verdict.answer == Answer::unknown)
      unknown[name(verdict.reason)] = count;
    else
      verdicts[name(verdict.answer)] = count;
  }
  verdicts["unknown"] = std::move(unknown);
  return verdicts;
}

}  // namespace

std::string_view name(Mode mode) noexcept {
  switch (mode) {
    case Mode::shadow:
      return "shadow";
    case Mode::enforce:
      return "enforce";
    case Mode::pass:
      return "pass";
  }
  return "pass";
}

std::optional<Mode> mode_from_name(std::string_view word) noexcept {
  for (const Mode mode : {Mode::shadow, Mode::enforce, Mode::pass})
    if (name(mode) == word) return mode;
  return std::nullopt;
}

boost::json::object to_json(const FilterReport& report) {
  const FollowStatus& follow = report.follow;
  boost::json::object object;
  object["name"] = report.name;
  object["source"] = report.source;
  object["state"] = name(report.standing.state);
  object["reason"] = name(report.standing.reason);
  object["since"] = format_time(report.since);
  object["mode"] = report.mode ? boost::json::value(name(*report.mode)) : nullptr;
  object["trouble"] = follow.trouble;
  object["generation"] = follow.generation;
  object["capacity"] = follow.capacity;
  object["estimated_items"] = follow.items;
  object["size_bytes"] = follow.size_bytes;
  object["fill"] = follow.fill;
  object["fpr"] = follow.fpr_asked;
  object["fpr_now"] = follow.fpr_now;
  object["fpr_measured"] = or_null(report.audits.measured_fpr());
  object["position"] =
      follow.position ? boost::json::value(follow.position->text()) : boost::json::value(nullptr);
  object["is_following"] = follow.is_following;
  object["lag_seconds"] =
      follow.behind ? boost::json::value(seconds(*follow.behind)) : boost::json::value(nullptr);
  object["lag_bytes"] = follow.lag.behind_bytes;
  object["retained_bytes"] = follow.lag.retained_bytes;
  object["added"] = follow.added;
  object["removed"] = follow.removed;
  object["rebuilds"] = follow.rebuilds;
  object["building"] = building_of(follow);
  object["checks"] = report.gate.checks();
  object["verdicts"] = verdicts_of(report.gate);
  object["rejected"] = report.gate.rejected;
  object["would_reject"] = report.gate.would_reject;
  object["false_negatives"] = report.audits.false_negatives;
  object["audits"] = boost::json::object{{"true_positives", report.audits.true_positives},
                                         {"false_positives", report.audits.false_positives},
                                         {"true_negatives", report.audits.true_negatives},
                                         {"false_negatives", report.audits.false_negatives},
                                         {"late", report.audits.late},
                                         {"failed", report.audits.failed}};
  return object;
}

}  // namespace guestlist
