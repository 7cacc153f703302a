#include "command_line.hpp"

int main(int argc, char** argv) {
  return guestlist::run_command_line(argc, argv);
}
