#pragma once

// Sends traffic to a service over real sockets and holds every answer against the truth: a name
// that exists and is answered 404 is counted as wrongly rejected.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "demo/traffic.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::demo {

struct LoadOptions {
  std::uint64_t requests = 100'000;
  std::size_t connections = 8;
  std::uint64_t seed = 1;
  /// Called a few times a second with the number of requests that were answered.
  std::function<void(std::uint64_t done)> progress;
};

struct LatencySummary {
  double p50_us = 0;
  double p99_us = 0;
};

struct LoadResult {
  std::uint64_t requests = 0;
  std::array<std::uint64_t, request_kind_count> by_kind{};
  std::uint64_t absent = 0;             ///< requests for names that do not exist
  std::uint64_t created = 0;            ///< packages that were created
  std::uint64_t existing_rejected = 0;  ///< names that exist, answered 404. Must be 0.
  std::uint64_t absent_found = 0;       ///< names that do not exist, answered 200. Must be 0.
  std::uint64_t failed = 0;             ///< answered 5xx or not at all
  std::uint64_t failed_creates = 0;     ///< of them packages that were to be created
  double seconds = 0;
  LatencySummary all;
  LatencySummary existing;  ///< what users feel meanwhile
  std::unordered_set<std::string> absent_names;

  double requests_per_second() const { return static_cast<double>(requests) / seconds; }
};

/// Connections go to the ports in turn. Errors: `unavailable` where no connection can be made.
/// Requires: there is a port.
Result<LoadResult> run_load(const std::vector<std::uint16_t>& ports, const Names& names,
                            const LoadOptions& options);

}  // namespace guestlist::demo
