#include "demo/demo_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "guestlist/base/units.hpp"

namespace guestlist::demo {
namespace {

std::string row(std::string_view label, const std::string& without, const std::string& with) {
  return fmt::format("  {:<42} {:>16} {:>16}\n", label, without, with);
}

std::string phase_json(const Phase& phase) {
  const LoadResult& load = phase.load;
  std::string kinds;
  for (std::size_t kind = 0; kind < request_kind_count; ++kind) {
    kinds += fmt::format(R"({}"{}":{})", kind == 0 ? "" : ",", name(static_cast<RequestKind>(kind)),
                         load.by_kind[kind]);
  }
  return fmt::format(
      R"({{"requests":{},"requests_by_kind":{{{}}},"valid":{},"absent":{},"created":{},"database_queries":{},)"
      R"("absent_lookups":{},"rejected":{},"budget_passes":{},"null_cache_hits":{},"false_positives":{},"false_negatives":{},)"
      R"("existing_wrongly_rejected":{},"absent_wrongly_found":{},"failed":{},"failed_creates":{},)"
      R"("p50_us":{:.0f},"p99_us":{:.0f},"existing_p50_us":{:.0f},"existing_p99_us":{:.0f},)"
      R"("seconds":{:.3f},"requests_per_second":{:.1f}}})",
      load.requests, kinds, load.requests - load.absent - load.created, load.absent, load.created,
      phase.database_queries, phase.absent_lookups, phase.rejected, phase.budget_passes,
      phase.null_cache_hits, phase.false_positives, phase.false_negatives, load.existing_rejected,
      load.absent_found, load.failed, load.failed_creates, load.all.p50_us, load.all.p99_us,
      load.existing.p50_us, load.existing.p99_us, load.seconds, load.requests_per_second());
}

}  // namespace

double DemoReport::allowed_false_positives() const {
  const auto beyond_budget = static_cast<double>(
      with_guard.load.absent - std::min(with_guard.load.absent, with_guard.budget_passes));
  const double expected = beyond_budget * asked_fpr;
  return std::max(1.2 * expected, expected + 5 * std::sqrt(expected));
}

bool DemoReport::holds() const {
  const auto answered_rightly = [this](const Phase& phase) {
    const auto may_fail = event.empty() ? 0 : phase.load.failed_creates;
    return phase.load.existing_rejected == 0 && phase.load.absent_found == 0 &&
           phase.load.failed == may_fail;
  };
  return answered_rightly(without_guard) && answered_rightly(with_guard) &&
         with_guard.false_negatives == 0 &&
         static_cast<double>(with_guard.false_positives) <= allowed_false_positives();
}

std::string to_table(const DemoReport& report) {
  const Phase& off = report.without_guard;
  const Phase& on = report.with_guard;
  const auto count = [](std::uint64_t value) { return format_count(value); };
  const auto time = [](double microseconds) { return format_seconds(microseconds / 1e6); };
  std::string table =
      fmt::format("\n  {} packages from {}, {} connections, seed {}\n", count(report.packages),
                  report.origin, report.connections, report.seed);
  if (report.instances > 1) {
    table += fmt::format("  {} services share one filter and one cache\n", report.instances);
  }
  if (!report.event.empty()) table += fmt::format("  half way: {}\n", report.event);
  table += "\n";
  table += row("", "without guard", "with guard");
  table += row("requests", count(off.load.requests), count(on.load.requests));
  table +=
      row("  of them for names that do not exist", count(off.load.absent), count(on.load.absent));
  table += row("database queries", count(off.database_queries), count(on.database_queries));
  table += row("  of them for names that do not exist", count(off.absent_lookups),
               count(on.absent_lookups));
  table += row("answers rejected by the filter", "-", count(on.rejected));
  table += row("  absents that passed within the budget", "-", count(on.budget_passes));
  table += row("  absents that passed as false positives", "-", count(on.false_positives));
  table += row("latency p50 / p99", time(off.load.all.p50_us) + " / " + time(off.load.all.p99_us),
               time(on.load.all.p50_us) + " / " + time(on.load.all.p99_us));
  table += row("  of names that exist",
               time(off.load.existing.p50_us) + " / " + time(off.load.existing.p99_us),
               time(on.load.existing.p50_us) + " / " + time(on.load.existing.p99_us));
  table +=
      row("requests a second", count(static_cast<std::uint64_t>(off.load.requests_per_second())),
          count(static_cast<std::uint64_t>(on.load.requests_per_second())));
  table += row("packages created meanwhile", count(off.load.created), count(on.load.created));
  table += row("requests that failed", count(off.load.failed), count(on.load.failed));
  table += row("  of them packages to create", count(off.load.failed_creates),
               count(on.load.failed_creates));
  table += row("EXISTING NAMES WRONGLY REJECTED", count(off.load.existing_rejected),
               count(on.load.existing_rejected));
  table += fmt::format(
      "\n  false positive rate: {:.3f} % measured, {:.3f} % asked; memory: filter {}, null cache "
      "{}\n",
      report.measured_fpr * 100, report.asked_fpr * 100, format_bytes(report.filter_bytes),
      format_bytes(report.null_cache_bytes));
  return table;
}

std::string to_json(const DemoReport& report) {
  return fmt::format(
      R"({{"items":{},"source":"{}","seed":{},"connections":{},"instances":{},"event":"{}","fpr":{},"measured_fpr":{:.6f},)"
      R"("size_bytes":{},"null_cache_bytes":{},"allowed_false_positives":{:.1f},)"
      R"("existing_wrongly_rejected":{},"holds":{},"without_guard":{},"with_guard":{}}})"
      "\n",
      report.packages, report.origin, report.seed, report.connections, report.instances,
      report.event, report.asked_fpr, report.measured_fpr, report.filter_bytes,
      report.null_cache_bytes, report.allowed_false_positives(),
      report.without_guard.load.existing_rejected + report.with_guard.load.existing_rejected,
      report.holds(), phase_json(report.without_guard), phase_json(report.with_guard));
}

}  // namespace guestlist::demo
