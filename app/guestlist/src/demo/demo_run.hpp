#pragma once

// The demo itself: services are started, attacked and compared, first without and then with the
// guard.

#include <cstdint>
#include <functional>
#include <string>

#include "demo/demo_report.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::demo {

struct DemoOptions {
  bool once = false;
  bool json = false;
  std::uint64_t requests = 200'000;
  std::size_t connections = 8;
  std::uint64_t seed = 1;
  double fpr = 0.01;
  std::uint16_t port = 0;
  std::string picture = "guestlist-demo.svg";
  /// Filter and cache are shared through this Redis; empty: they are in the process.
  std::string redis;
  /// The catalogue is in this PostgreSQL; empty: in SQLite.
  std::string postgres;
  /// Services that are attacked together. More than one need a Redis to share a filter.
  std::size_t instances = 1;
};

/// What happens to the services' surroundings while they are attacked.
struct DemoEvents {
  /// Called once in each of the two runs, when half of the requests are answered; may take its
  /// time.
  std::function<void()> half_way;
  /// What it is, for the table.
  std::string half_way_name;
};

/// Blocks the signals that end the demo in this thread and those it starts, so that folders and
/// servers are removed. Call it before any thread begins.
void block_ending_signals();

Result<DemoReport> run_demo(const DemoOptions& options, const DemoEvents& events = {});

}  // namespace guestlist::demo
