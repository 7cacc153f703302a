#pragma once

namespace guestlist {

/// Parses the arguments, runs the command they name and returns its exit status.
int run_command_line(int argc, char** argv);

}  // namespace guestlist
