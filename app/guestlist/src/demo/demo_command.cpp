#include "demo/demo_command.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "demo/catalogue.hpp"
#include "demo/catalogue_service.hpp"
#include "demo/demo_report.hpp"
#include "demo/load_run.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/base/units.hpp"
#include "progress.hpp"

namespace guestlist {
namespace {

using namespace demo;

struct DemoOptions {
  bool once = false;
  bool json = false;
  std::uint64_t requests = 200'000;
  std::size_t connections = 8;
  std::uint64_t seed = 1;
  double fpr = 0.01;
  std::uint16_t port = 0;
  std::string picture = "guestlist-demo.svg";
};

/// A folder of its own that goes when the demo ends.
class WorkFolder {
 public:
  static Result<WorkFolder> make() {
    std::error_code failed;
    std::string folder =
        (std::filesystem::temp_directory_path(failed) / "guestlist-demo-XXXXXX").string();
    if (failed || ::mkdtemp(folder.data()) == nullptr) {
      return fail(
          errno_error(Errc::unwritable, "cannot make a folder '" + folder + "'; set TMPDIR"));
    }
    return WorkFolder(folder);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

void say(const std::string& line) {
  fmt::print(stderr, "  {}\n", line);
}

Result<Phase> run_phase(CatalogueService& service, const Names& names, const DemoOptions& options,
                        const std::string& what) {
  const std::uint64_t queries_before = service.database_queries();
  Progress progress(what, options.requests, Progress::Unit::count,
                    Progress::WithoutTerminal::lines);
  LoadOptions load;
  load.requests = options.requests;
  load.connections = options.connections;
  load.seed = options.seed;
  load.progress = std::ref(progress);
  auto result = run_load(service.port(), names, load);
  if (!result) return fail(std::move(result).error());
  const GuardStatistics guard = service.guard_statistics();
  Phase phase;
  phase.load = std::move(*result);
  phase.database_queries = service.database_queries() - queries_before;
  phase.absent_lookups = service.absent_lookups();
  phase.rejected = guard[GuardEvent::rejected];
  phase.budget_passes = guard[GuardEvent::audit];
  phase.null_cache_hits = guard[GuardEvent::null_hit];
  phase.false_positives = guard[GuardEvent::false_positive];
  phase.false_negatives = guard[GuardEvent::false_negative];
  return phase;
}

double measured_fpr(CatalogueService& service,
                    const std::unordered_set<std::string>& absent_names) {
  std::uint64_t passed = 0;
  for (const std::string& name : absent_names) passed += service.filter_denies(name) ? 0 : 1;
  return static_cast<double>(passed) /
         static_cast<double>(std::max<std::size_t>(1, absent_names.size()));
}

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

void serve_until_interrupted(const CatalogueService& service, const Catalogue& catalogue) {
  const sigset_t ending = ending_signals();
  const std::string url = fmt::format("http://127.0.0.1:{}", service.port());
  fmt::print(
      stderr,
      "\n  The guarded service stays up. Try:\n\n"
      "    curl -i {0}/packages/{1}\n"
      "    curl -i {0}/packages/no-such-package\n"
      "    curl -i -X POST {0}/packages -d '{{\"name\": \"brand-new\", \"version\": \"1.0\"}}'\n"
      "    curl -i {0}/packages/brand-new\n"
      "    curl -s {0}/stats\n\n"
      "  End it with Ctrl-C.\n",
      url, catalogue.packages[catalogue.packages.size() / 2].name);
  int signal = 0;
  sigwait(&ending, &signal);
}

Result<DemoReport> run_demo(const DemoOptions& options) {
  auto folder = WorkFolder::make();
  if (!folder) return fail(std::move(folder).error());
  const auto catalogue = read_catalogue();
  if (!catalogue) return fail(catalogue.error());
  say(fmt::format("{} packages from {}", format_count(catalogue->packages.size()),
                  catalogue->origin));
  const Names names(*catalogue, options.seed);

  DemoReport report;
  report.origin = catalogue->origin;
  report.packages = catalogue->packages.size();
  report.seed = options.seed;
  report.connections = options.connections;
  report.asked_fpr = options.fpr;

  // A database each, so that both see the same packages being created.
  const std::pair<const char*, bool> phases[] = {{"without guard", false}, {"with guard", true}};
  for (const auto& [what, with_guard] : phases) {
    const std::string path = folder->file(with_guard ? "guarded.db" : "unguarded.db");
    if (auto written = write_catalogue(*catalogue, path); !written) return fail(written.error());
    ServiceOptions service_options;
    service_options.with_guard = with_guard;
    service_options.fpr = options.fpr;
    service_options.port = with_guard ? options.port : std::uint16_t{0};
    auto service = CatalogueService::start(path, service_options);
    if (!service) return fail(std::move(service).error());
    auto phase = run_phase(**service, names, options, what);
    if (!phase) return fail(std::move(phase).error());
    (with_guard ? report.with_guard : report.without_guard) = std::move(*phase);
    if (!with_guard) continue;
    report.measured_fpr = measured_fpr(**service, report.with_guard.load.absent_names);
    report.filter_bytes = (*service)->filter_status().size_bytes;
    report.null_cache_bytes = (*service)->null_cache_bytes();
    fmt::print("{}", options.json ? to_json(report) : to_table(report));
    std::fflush(stdout);
    if (auto drawn = write_file(options.picture, as_bytes(to_svg(report))); !drawn) {
      return fail(std::move(drawn).error());
    }
    say("picture: " + options.picture);
    if (!options.once) serve_until_interrupted(**service, *catalogue);
  }
  return report;
}

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
  command.add_option("--svg", options.picture, "File for the picture")->capture_default_str();
}

CallResult run(const DemoOptions& options) {
  // Blocked before any thread starts, so that sigwait gets them and the folder is removed.
  const sigset_t ending = ending_signals();
  if (!options.once) pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const auto report = run_demo(options);
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
