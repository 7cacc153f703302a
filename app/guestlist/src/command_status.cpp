#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <thread>

#include "commands.hpp"
#include "guestlist/base/units.hpp"
#include "service_client.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string url = "http://127.0.0.1:8700";
  bool once = false;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("URL", options.url, "The service")->capture_default_str();
  command.add_flag("--once", options.once, "Print one table and end; so it is without a terminal");
  declare_json(command, options.json);
}

double number(const boost::json::object& filter, std::string_view name) {
  const auto& value = filter.at(name);
  return value.is_number() ? value.to_number<double>() : 0.0;
}

std::string_view text(const boost::json::object& filter, std::string_view name) {
  return filter.at(name).as_string();
}

std::string count(const boost::json::object& filter, std::string_view name) {
  return format_count(static_cast<std::uint64_t>(number(filter, name)));
}

std::string table(const boost::json::object& state) {
  std::string lines =
      fmt::format("{:<20} {:<10} {:<12} {:>14} {:>14} {:>12} {:>9} {:>9} {:>6}\n", "FILTER",
                  "STATE", "REASON", "KEYS", "CHECKS", "REJECTED", "FPR NOW", "LAG", "WRONG");
  for (const auto& value : state.at("filters").as_array()) {
    const boost::json::object& filter = value.as_object();
    const std::string lag = filter.at("lag_seconds").is_null()
                                ? std::string("-")
                                : format_seconds(number(filter, "lag_seconds"));
    lines += fmt::format("{:<20} {:<10} {:<12} {:>14} {:>14} {:>12} {:>8.3f}% {:>9} {:>6}\n",
                         text(filter, "name"), text(filter, "state"), text(filter, "reason"),
                         count(filter, "estimated_items"), count(filter, "checks"),
                         count(filter, "rejected"), 100 * number(filter, "fpr_now"), lag,
                         count(filter, "false_negatives"));
    if (!text(filter, "trouble").empty()) lines += fmt::format("  {}\n", text(filter, "trouble"));
  }
  return lines;
}

CallResult run(const Options& options) {
  const bool is_live = !options.once && !options.json && isatty(STDOUT_FILENO) != 0;
  while (true) {
    auto client = ServiceClient::connect(options.url);
    if (!client) return fail(std::move(client).error());
    const auto state = client->get("/v1/filters");
    if (!state) return fail(state.error());
    if (is_live) fmt::print("\x1b[H\x1b[2J");
    print_result(options.json, *state, table(*state));
    if (!is_live) return Exit::success;
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

void add_status(CallTable& calls) {
  calls.add<Options>("status", "Show the filters of a running service, live on a terminal", declare,
                     run);
}

}  // namespace guestlist
