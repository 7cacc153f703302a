#pragma once

// The demo's result, and its three forms: a table, JSON, a picture.

#include <cstdint>
#include <string>

#include "demo/load_run.hpp"

namespace guestlist::demo {

struct Phase {
  LoadResult load;
  std::uint64_t database_queries = 0;
  std::uint64_t absent_lookups = 0;  ///< requests that the database was asked for and had nothing
  /// With the guard: requests rejected by the filter, absents that passed within the budget, and
  /// absents that the filter let through and the database did not have.
  std::uint64_t rejected = 0;
  std::uint64_t budget_passes = 0;
  std::uint64_t null_cache_hits = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;
};

struct DemoReport {
  std::string origin;  ///< of the catalogue
  std::uint64_t packages = 0;
  std::uint64_t seed = 0;
  std::size_t connections = 0;
  std::size_t instances = 1;
  /// What happened half way, or empty. Writes may fail meanwhile; reads may not.
  std::string event;
  double asked_fpr = 0;
  /// Over the distinct absent names of the traffic.
  double measured_fpr = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t null_cache_bytes = 0;
  Phase without_guard;
  Phase with_guard;

  /// False positives that the database may see of the absents that were not let through by the
  /// budget: 1.2 x fpr of them, and five standard deviations for small runs.
  double allowed_false_positives() const;
  /// Nothing that exists was rejected, nothing was made up, and the database saw no more than it
  /// may.
  bool holds() const;
};

std::string to_table(const DemoReport& report);
std::string to_json(const DemoReport& report);
std::string to_svg(const DemoReport& report);

}  // namespace guestlist::demo
