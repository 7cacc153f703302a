#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "demo/demo_command.hpp"

namespace guestlist {

int run_command_line(int argc, char** argv) {
  CLI::App app("Keeps requests for keys that do not exist away from a database", "guestlist");
  app.require_subcommand(1);
  int status = 0;
  add_demo_command(app, status);
  CLI11_PARSE(app, argc, argv);
  return status;
}

}  // namespace guestlist
