#include "service/metrics.hpp"

#include <fmt/format.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>
#include <vector>

namespace guestlist {
namespace {

using prometheus::MetricType;
using Labels = std::vector<prometheus::ClientMetric::Label>;
using Series = std::vector<std::pair<Labels, double>>;

struct ServiceMetric {
  std::string_view name;
  MetricType type;
  std::string_view help;
  double (*value)(const ServiceCounts&);
};

struct FilterMetric {
  std::string_view name;
  MetricType type;
  std::string_view labels;  ///< beside `filter`
  std::string_view help;
  void (*read)(const FilterReport&, Series&);
};

/// Of a metric that has one value a filter.
template <auto value>
void one(const FilterReport& report, Series& series) {
  series.push_back({{}, static_cast<double>(value(report))});
}

double seconds(Duration span) noexcept {
  return std::chrono::duration<double>(span).count();
}

void read_verdicts(const FilterReport& report, Series& series) {
  for (const auto& [verdict, count] : report.gate.verdicts) {
    series.push_back({{{"verdict", std::string(name(verdict.answer))},
                       {"reason", std::string(name(verdict.reason))}},
                      static_cast<double>(count)});
  }
}

void read_audits(const FilterReport& report, Series& series) {
  const AuditCounts& audits = report.audits;
  const std::pair<const char*, std::uint64_t> outcomes[] = {
      {"true_positive", audits.true_positives},
      {"false_positive", audits.false_positives},
      {"true_negative", audits.true_negatives},
      {"false_negative", audits.false_negatives},
      {"late", audits.late},
      {"failed", audits.failed}};
  for (const auto& [outcome, count] : outcomes)
    series.push_back({{{"outcome", outcome}}, static_cast<double>(count)});
}

void read_state(const FilterReport& report, Series& series) {
  for (const FilterState state :
       {FilterState::building, FilterState::shadow, FilterState::enforcing, FilterState::passing}) {
    series.push_back(
        {{{"state", std::string(name(state))}}, state == report.standing.state ? 1.0 : 0.0});
  }
}

void read_lag(const FilterReport& report, Series& series) {
  if (report.follow.behind) series.push_back({{}, seconds(*report.follow.behind)});
}

void read_measured_fpr(const FilterReport& report, Series& series) {
  if (const auto measured = report.audits.measured_fpr()) series.push_back({{}, *measured});
}

void read_progress(const FilterReport& report, Series& series) {
  const FollowStatus& follow = report.follow;
  if (!follow.is_building || !follow.keys_to_build || *follow.keys_to_build == 0) return;
  series.push_back(
      {{}, static_cast<double>(follow.built_keys) / static_cast<double>(*follow.keys_to_build)});
}

constexpr ServiceMetric service_metrics[] = {
    {"guestlist_up_seconds", MetricType::Gauge, "Since the service was started.",
     [](const ServiceCounts& c) { return c.uptime_seconds; }},
    {"guestlist_ready", MetricType::Gauge, "1 where every filter gives verdicts, else 0.",
     [](const ServiceCounts& c) { return c.is_ready ? 1.0 : 0.0; }},
    {"guestlist_verdict_requests_total", MetricType::Counter, "Requests to /auth/.",
     [](const ServiceCounts& c) { return static_cast<double>(c.verdict_requests); }},
    {"guestlist_api_requests_total", MetricType::Counter, "All other requests.",
     [](const ServiceCounts& c) { return static_cast<double>(c.api_requests); }},
    {"guestlist_http_connections", MetricType::Gauge, "Connections that are open.",
     [](const ServiceCounts& c) { return static_cast<double>(c.connections); }},
};

using Report = const FilterReport&;
constexpr FilterMetric filter_metrics[] = {
    {"guestlist_verdicts_total", MetricType::Counter, "verdict, reason",
     "Answers to the gate: `maybe`, `absent`, `unknown` with its reason.", read_verdicts},
    {"guestlist_rejected_total", MetricType::Counter, "",
     "Requests that were rejected: queries that the database was spared.",
     one<[](Report r) { return r.gate.rejected; }>},
    {"guestlist_would_reject_total", MetricType::Counter, "",
     "Absent keys that passed because of the mode.",
     one<[](Report r) { return r.gate.would_reject; }>},
    {"guestlist_audits_total", MetricType::Counter, "outcome",
     "Verdicts that were compared with the source.", read_audits},
    {"guestlist_false_negatives_total", MetricType::Counter, "",
     "Keys that exist and were called absent. Must be 0.",
     one<[](Report r) { return r.audits.false_negatives; }>},
    {"guestlist_fpr_asked", MetricType::Gauge, "", "The rate of false positives asked for.",
     one<[](Report r) { return r.follow.fpr_asked; }>},
    {"guestlist_fpr_computed", MetricType::Gauge, "", "The rate that the bits give now.",
     one<[](Report r) { return r.follow.fpr_now; }>},
    {"guestlist_fpr_observed", MetricType::Gauge, "",
     "The rate measured on answers: FP / (FP + TN). Not there before an absent key was audited.",
     read_measured_fpr},
    {"guestlist_filter_state", MetricType::Gauge, "state",
     "1 for the state that the filter is in: `building`, `shadow`, `enforcing`, `passing`.",
     read_state},
    {"guestlist_filter_state_since_seconds", MetricType::Gauge, "",
     "When it came into this state, in Unix time.", one<[](Report r) {
       return std::chrono::duration<double>(r.since.time_since_epoch()).count();
     }>},
    {"guestlist_filter_generation", MetricType::Gauge, "",
     "Number of the live generation; 0: none.", one<[](Report r) { return r.follow.generation; }>},
    {"guestlist_filter_capacity", MetricType::Gauge, "", "Keys that it was planned for.",
     one<[](Report r) { return r.follow.capacity; }>},
    {"guestlist_filter_items", MetricType::Gauge, "", "Keys in it, estimated from its bits.",
     one<[](Report r) { return r.follow.items; }>},
    {"guestlist_filter_fill_ratio", MetricType::Gauge, "", "Share of its bits that are set.",
     one<[](Report r) { return r.follow.fill; }>},
    {"guestlist_filter_size_bytes", MetricType::Gauge, "", "Memory of the live generation.",
     one<[](Report r) { return r.follow.size_bytes; }>},
    {"guestlist_cdc_following", MetricType::Gauge, "", "1 while changes of the source come in.",
     one<[](Report r) { return r.follow.is_following ? 1 : 0; }>},
    {"guestlist_cdc_lag_seconds", MetricType::Gauge, "",
     "Age of the moment up to which every commit is in the filter.", read_lag},
    {"guestlist_cdc_lag_bytes", MetricType::Gauge, "", "The source's log that has not come yet.",
     one<[](Report r) { return r.follow.lag.behind_bytes; }>},
    {"guestlist_slot_retained_bytes", MetricType::Gauge, "",
     "The source's log that is kept for us.",
     one<[](Report r) { return r.follow.lag.retained_bytes; }>},
    {"guestlist_keys_added_total", MetricType::Counter, "", "Keys that came as changes.",
     one<[](Report r) { return r.follow.added; }>},
    {"guestlist_keys_removed", MetricType::Gauge, "",
     "Rows that went since the generation was built; their keys pass until the next.",
     one<[](Report r) { return r.follow.removed; }>},
    {"guestlist_rebuilds_total", MetricType::Counter, "", "Generations that were built.",
     one<[](Report r) { return r.follow.rebuilds; }>},
    {"guestlist_rebuild_progress_ratio", MetricType::Gauge, "",
     "Keys read of those expected; only while one is being built.", read_progress},
};

prometheus::MetricFamily family(std::string_view name, MetricType type, std::string_view help) {
  return {std::string(name), std::string(help), type, {}};
}

void add(prometheus::MetricFamily& family, Labels labels, double value) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter)
    metric.counter.value = value;
  else
    metric.gauge.value = value;
}

std::string_view name(MetricType type) noexcept {
  return type == MetricType::Counter ? "counter" : "gauge";
}

}  // namespace

std::string metrics_text(std::span<const FilterReport> reports, const ServiceCounts& counts) {
  std::vector<prometheus::MetricFamily> families;
  for (const ServiceMetric& metric : service_metrics) {
    families.push_back(family(metric.name, metric.type, metric.help));
    add(families.back(), {}, metric.value(counts));
  }
  for (const FilterMetric& metric : filter_metrics) {
    families.push_back(family(metric.name, metric.type, metric.help));
    for (const FilterReport& report : reports) {
      Series series;
      metric.read(report, series);
      for (auto& [labels, value] : series) {
        labels.insert(labels.begin(), {"filter", report.name});
        add(families.back(), std::move(labels), value);
      }
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

std::string metrics_reference() {
  std::string page =
      "# The metrics of `guestlist serve`\n\n"
      "`GET /metrics`, in Prometheus' text format. Alert rules and a dashboard are beside this "
      "page.\n\n"
      "This page is written by the program: `guestlist check --metrics`.\n\n"
      "## The service\n\n| metric | type | |\n|---|---|---|\n";
  for (const ServiceMetric& metric : service_metrics)
    page += fmt::format("| `{}` | {} | {} |\n", metric.name, name(metric.type), metric.help);
  page +=
      "\n## Each filter\n\nAll have the label `filter`.\n\n"
      "| metric | type | further labels | |\n|---|---|---|---|\n";
  for (const FilterMetric& metric : filter_metrics) {
    page += fmt::format("| `{}` | {} | {} | {} |\n", metric.name, name(metric.type), metric.labels,
                        metric.help);
  }
  return page;
}

}  // namespace guestlist
