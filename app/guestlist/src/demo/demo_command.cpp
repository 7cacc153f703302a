#include "demo/demo_command.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "demo/demo_run.hpp"

namespace guestlist {
namespace {

using demo::DemoOptions;

void declare(CLI::App& command, DemoOptions& options) {
  command.add_flag("--once", options.once, "End after the table");
  declare_json(command, options.json);
  command.add_option("--requests", options.requests, "Requests of each of the two runs")
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  command.add_option("--connections", options.connections, "Connections that send them")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the traffic")->capture_default_str();
  command.add_option("--fpr", options.fpr, "False positive rate of the filter")
      ->capture_default_str();
  command.add_option("--port", options.port, "Port of the guarded service; 0: any free one")
      ->capture_default_str();
  command
      .add_option("--redis", options.redis,
                  "Share filter and cache through this Redis: redis://host[:port][/db]")
      ->type_name("URL");
  command
      .add_option("--postgres", options.postgres,
                  "Keep the catalogue in this PostgreSQL; its table `packages` is replaced")
      ->type_name("URL");
  command
      .add_option("--instances", options.instances,
                  "Services that are attacked together; more than one need --redis")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command.add_option("--svg", options.picture, "File for the picture")->capture_default_str();
}

CallResult run(const DemoOptions& options) {
  if (options.instances > 1 && options.redis.empty()) {
    return fail(Errc::invalid_argument,
                "--instances: several services share a filter through Redis; give --redis URL");
  }
  if (!options.once) demo::block_ending_signals();
  const auto report = demo::run_demo(options);
  if (!report) return fail(report.error());
  if (report->holds()) return Exit::success;
  fmt::print(stderr, "guestlist: the demo's promise was broken: see the table\n");
  return Exit::some_absent;
}

}  // namespace

void add_demo(CallTable& calls) {
  calls.add<DemoOptions>(
      "demo", "The main job on real input: a service under attack, without and with the guard",
      declare, run);
}

}  // namespace guestlist
