#include "command_line.hpp"

#include <CLI/CLI.hpp>

namespace guestlist {

int run_command_line(int argc, char** argv) {
  CLI::App app("Keeps requests for keys that do not exist away from a database", "guestlist");
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  return 0;
}

}  // namespace guestlist
