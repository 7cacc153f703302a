#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "commands.hpp"
#include "service/configured_routes.hpp"
#include "service/metrics.hpp"
#include "service/source_factory.hpp"

namespace guestlist {
namespace {

constexpr Duration patience = std::chrono::seconds(10);

struct CheckOptions {
  std::string config;
  bool prints_reference = false;
  bool prints_metrics = false;
  bool json = false;
};

void declare_check(CLI::App& command, CheckOptions& options) {
  command.add_option("CONFIG", options.config, "The configuration file (TOML)");
  command.add_flag("--reference", options.prints_reference, "Print every field, in Markdown");
  command.add_flag("--metrics", options.prints_metrics, "Print every metric, in Markdown");
  declare_json(command, options.json);
}

std::string_view word(Severity severity) noexcept {
  switch (severity) {
    case Severity::good:
      return "good";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "ERROR";
  }
  return "ERROR";
}

/// What is to be said of a configuration, filter by filter.
struct Looked {
  std::vector<std::pair<std::string, Finding>> findings;  ///< with the filter's name
  FilterKeys keys;

  void say(const std::string& filter, Finding finding) {
    findings.emplace_back(filter, std::move(finding));
  }
  bool has_error() const {
    return std::ranges::any_of(
        findings, [](const auto& finding) { return finding.second.severity == Severity::error; });
  }
};

void look_at_filter(const FilterConfig& filter, Looked& looked) {
  auto opened = open_source(filter);
  if (!opened) {
    looked.say(filter.name, {Severity::error, opened.error().message(), ""});
    return;
  }
  const SteadyClock clock;
  looked.keys[filter.name] = opened->key;
  looked.say(filter.name, {Severity::good, filter.source.description() + " can be read", ""});
  for (Finding& finding : opened->source->examine(Deadline::after(patience, clock)))
    looked.say(filter.name, std::move(finding));
}

void look_at_rest(const ServiceConfig& config, Looked& looked) {
  if (looked.keys.size() == config.filters.size()) {
    const auto routes = OfflineRoutes::make(config, looked.keys);
    if (routes)
      looked.say("", {Severity::good, fmt::format("{} routes", config.routes.size()), ""});
    else
      looked.say("", {Severity::error, routes.error().message(), ""});
  }
  if (config.routes.empty())
    looked.say("", {Severity::warning, "there is no [[route]]: proxies are told to pass all",
                    "add a [[route]] with match and filter"});
  if (config.server.token.empty())
    looked.say("", {Severity::warning, "[server] has no token: modes cannot be set over HTTP",
                    "set token = \"${GUESTLIST_TOKEN}\" for a kill switch that works at once"});
}

Looked look_at(const ServiceConfig& config) {
  Looked looked;
  for (const FilterConfig& filter : config.filters) look_at_filter(filter, looked);
  look_at_rest(config, looked);
  return looked;
}

void print(const Looked& looked, bool json) {
  boost::json::array list;
  std::string text;
  for (const auto& [filter, finding] : looked.findings) {
    list.push_back(boost::json::object{{"filter", filter},
                                       {"severity", word(finding.severity)},
                                       {"what", finding.what},
                                       {"fix", finding.fix}});
    text += fmt::format("{:<8} {}{}{}\n", word(finding.severity), filter,
                        filter.empty() ? "" : ": ", finding.what);
    if (!finding.fix.empty()) text += fmt::format("         fix: {}\n", finding.fix);
  }
  print_result(json, {{"findings", std::move(list)}}, text);
}

CallResult run_check(const CheckOptions& options) {
  if (options.prints_reference || options.prints_metrics) {
    fmt::print("{}", options.prints_reference ? service_config_reference() : metrics_reference());
    return Exit::success;
  }
  if (options.config.empty())
    return fail(Errc::invalid_argument, "check needs a CONFIG, or --reference");
  const auto config = read_service_config(options.config);
  if (!config) return fail(config.error());
  const Looked looked = look_at(*config);
  for (const auto& [filter, finding] : looked.findings) {
    if (finding.severity != Severity::error) continue;
    return fail(Errc::invalid_argument, finding.fix.empty()
                                            ? finding.what
                                            : fmt::format("{}: {}", finding.what, finding.fix));
  }
  print(looked, options.json);
  return Exit::success;
}

struct DoctorOptions {
  std::string config;
  bool json = false;
};

void declare_doctor(CLI::App& command, DoctorOptions& options) {
  command.add_option("CONFIG", options.config, "The configuration file (TOML)")->required();
  declare_json(command, options.json);
}

CallResult run_doctor(const DoctorOptions& options) {
  const auto config = read_service_config(options.config);
  if (!config) return fail(config.error());
  const Looked looked = look_at(*config);
  print(looked, options.json);
  return looked.has_error() ? Exit::error : Exit::success;
}

}  // namespace

void add_check(CallTable& calls) {
  calls.add<CheckOptions>("check", "Read a service's configuration, connect, and say what is wrong",
                          declare_check, run_check);
}

void add_doctor(CallTable& calls) {
  calls.add<DoctorOptions>("doctor", "Everything about a service that should be known, with fixes",
                           declare_doctor, run_doctor);
}

}  // namespace guestlist
