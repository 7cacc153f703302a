#pragma once

// What the service counts, in Prometheus' text format. One table has every metric: it makes the
// output and the page docs/operations/metrics.md.
//
// Threads: pure functions. Source: the names of docs/operations/metrics.md are relied on by alert
// rules and dashboards; add some, rename none.

#include <span>
#include <string>

#include "service/served_filter.hpp"

namespace guestlist {

struct ServiceCounts {
  std::uint64_t verdict_requests = 0;
  std::uint64_t api_requests = 0;
  std::size_t connections = 0;
  double uptime_seconds = 0;
  bool is_ready = false;
};

std::string metrics_text(std::span<const FilterReport> reports, const ServiceCounts& counts);

/// The reference page, in Markdown.
std::string metrics_reference();

}  // namespace guestlist
