#include "demo/demo_run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demo/catalogue.hpp"
#include "demo/catalogue_service.hpp"
#include "demo/load_run.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/base/units.hpp"
#include "progress.hpp"

namespace guestlist::demo {
namespace {

constexpr std::uint64_t local_cache_bytes = std::uint64_t{8} << 20;
/// Of all services together.
constexpr std::uint32_t budget_per_second = 50;

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

using Services = std::vector<std::unique_ptr<CatalogueService>>;

GuardStatistics sum_of_guards(const Services& services) {
  GuardStatistics sum;
  for (const auto& service : services) sum += service->guard_statistics();
  return sum;
}

std::uint64_t queries_of(const Services& services) {
  std::uint64_t sum = 0;
  for (const auto& service : services) sum += service->database_queries();
  return sum;
}

Result<Phase> run_phase(const Services& services, const Names& names, const DemoOptions& options,
                        const DemoEvents& events, const std::string& what) {
  const std::uint64_t queries_before = queries_of(services);
  Progress progress(what, options.requests, Progress::Unit::count,
                    Progress::WithoutTerminal::lines);
  LoadOptions load;
  load.requests = options.requests;
  load.connections = options.connections;
  load.seed = options.seed;
  bool is_event_over = !events.half_way;
  load.progress = [&](std::uint64_t done) {
    progress(done);
    if (!is_event_over && done >= options.requests / 2) {
      // On this thread, which lives on: a server that is started ends with the thread that did it.
      events.half_way();
      is_event_over = true;
    }
  };
  std::vector<std::uint16_t> ports;
  for (const auto& service : services) ports.push_back(service->port());
  auto result = run_load(ports, names, load);
  if (!result) return fail(std::move(result).error());
  const GuardStatistics guard = sum_of_guards(services);
  Phase phase;
  phase.load = std::move(*result);
  phase.database_queries = queries_of(services) - queries_before;
  for (const auto& service : services) phase.absent_lookups += service->absent_lookups();
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

/// One phase's services; with a Redis, all on one filter and one cache.
Result<Services> start_services(const Catalogue& catalogue, const WorkFolder& folder,
                                const DemoOptions& options, bool with_guard) {
  const std::string path = folder.file(with_guard ? "guarded.db" : "unguarded.db");
  const bool in_postgres = !options.postgres.empty();
  auto written = in_postgres ? write_catalogue_to_postgres(catalogue, options.postgres)
                             : write_catalogue(catalogue, path);
  if (!written) return fail(std::move(written).error());
  // A filter and a cache of this run's own: what is there of another demo is left alone.
  const std::string shared_name = fmt::format("demo-{}-{}", ::getpid(), with_guard ? "b" : "a");
  Services services;
  for (std::size_t i = 0; i < options.instances; ++i) {
    auto store = in_postgres ? open_postgres_store(options.postgres) : open_sqlite_store(path);
    if (!store) return fail(std::move(store).error());
    auto parts = options.redis.empty() ? Result<std::unique_ptr<ServiceParts>>(
                                             make_local_parts(options.fpr, local_cache_bytes))
                                       : make_shared_parts(options.redis, shared_name, options.fpr);
    if (!parts) return fail(std::move(parts).error());
    ServiceOptions service_options;
    service_options.with_guard = with_guard;
    service_options.budget_per_second = std::max<std::uint32_t>(
        1, budget_per_second / static_cast<std::uint32_t>(options.instances));
    service_options.port = with_guard && i == 0 ? options.port : std::uint16_t{0};
    auto service = CatalogueService::start(std::move(*store), std::move(*parts), service_options);
    if (!service) return fail(std::move(service).error());
    services.push_back(std::move(*service));
  }
  return services;
}

}  // namespace

void block_ending_signals() {
  const sigset_t ending = ending_signals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
}

Result<DemoReport> run_demo(const DemoOptions& options, const DemoEvents& events) {
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
  report.instances = options.instances;
  report.event = events.half_way_name;

  // A new database for each, so that both see the same packages being created.
  for (const bool with_guard : {false, true}) {
    auto services = start_services(*catalogue, *folder, options, with_guard);
    if (!services) return fail(std::move(services).error());
    auto phase =
        run_phase(*services, names, options, events, with_guard ? "with guard" : "without guard");
    if (!phase) return fail(std::move(phase).error());
    (with_guard ? report.with_guard : report.without_guard) = std::move(*phase);
    if (!with_guard) continue;
    CatalogueService& service = *services->front();
    report.measured_fpr = measured_fpr(service, report.with_guard.load.absent_names);
    report.filter_bytes = service.filter_bytes();
    report.null_cache_bytes = service.null_cache_bytes();
    fmt::print("{}", options.json ? to_json(report) : to_table(report));
    std::fflush(stdout);
    if (auto drawn = write_file(options.picture, as_bytes(to_svg(report))); !drawn) {
      return fail(std::move(drawn).error());
    }
    say("picture: " + options.picture);
    if (!options.once) serve_until_interrupted(service, *catalogue);
  }
  return report;
}

}  // namespace guestlist::demo
