#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"
#include "demo/demo_command.hpp"

namespace guestlist {
namespace {

constexpr const char* version = "guestlist 0.1.0";

bool reads_input(const std::string& call) {
  return call == "build" || call == "load";
}

bool is_file(const std::string& word) {
  std::error_code ignored;
  return word == "-" || std::filesystem::exists(word, ignored);
}

// `--json` asks for JSON on every call, and where keys are read `--json FIELD` names the field of
// JSON lines. A word after it is a field unless it is an option or a file; where it could be
// either, because another file is named too, nothing is guessed. docs/decisions/0602 says why.
Result<std::vector<std::string>> with_json_field_named(std::vector<std::string> arguments) {
  if (arguments.empty() || !reads_input(arguments.front())) return arguments;
  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with("--json=")) arguments[i].replace(0, 7, "--json-field=");
    if (arguments[i] != "--json" || i + 1 == arguments.size() || arguments[i + 1].starts_with("-"))
      continue;
    const std::string& next = arguments[i + 1];
    if (!is_file(next)) {
      arguments[i] = "--json-field";
      continue;
    }
    for (std::size_t other = 1; other < arguments.size(); ++other) {
      const bool is_output = arguments[other - 1] == "-o" || arguments[other - 1] == "--output";
      if (other == i + 1 || is_output || !is_file(arguments[other])) continue;
      return fail(
          Errc::invalid_argument,
          fmt::format(
              "'--json {0}': is '{0}' a field or a file? Say --json-field {0}, or put --json last",
              next));
    }
  }
  return arguments;
}

/// CLI11 prints help itself; its complaints become our one line.
int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::string what = error.what();
  std::replace(what.begin(), what.end(), '\n', ' ');
  const auto called = app.get_subcommands();
  const std::string help =
      called.empty() ? "guestlist --help" : "guestlist " + called.front()->get_name() + " --help";
  fmt::print(stderr, "guestlist: {}; see '{}'\n", what, help);
  return static_cast<int>(Exit::error);
}

bool has_call(const CLI::App& app, const std::string& name) {
  const auto calls = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(calls.begin(), calls.end(),
                     [&](const CLI::App* call) { return call->get_name() == name; });
}

int run(std::vector<std::string> arguments) {
  CLI::App app("guestlist keeps requests for keys that do not exist away from a database",
               "guestlist");
  app.set_version_flag("--version", version);
  app.require_subcommand(1);
  CallTable calls(app);
  add_plan(calls);
  add_build(calls);
  add_create(calls);
  add_add(calls);
  add_load(calls);
  add_query(calls);
  add_dedup(calls);
  add_inspect(calls);
  add_merge(calls);
  add_drop(calls);
  add_serve(calls);
  add_check(calls);
  add_doctor(calls);
  add_explain(calls);
  add_status(calls);
  add_demo(calls);
  if (!arguments.empty() && !arguments.front().starts_with('-') &&
      !has_call(app, arguments.front())) {
    fmt::print(stderr, "guestlist: there is no call '{}'; see 'guestlist --help'\n",
               arguments.front());
    return static_cast<int>(Exit::error);
  }
  auto named = with_json_field_named(std::move(arguments));
  if (!named) {
    fmt::print(stderr, "guestlist: {}\n", named.error().message());
    return static_cast<int>(Exit::error);
  }
  arguments = std::move(*named);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return report(app, error);
  }
  return calls.status();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "guestlist: out of memory; ask for fewer items or a higher fpr\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "guestlist: {}\n", error.what());
  }
  return static_cast<int>(Exit::error);
}

}  // namespace guestlist
