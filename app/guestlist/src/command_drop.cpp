#include <fmt/format.h>

#include "commands.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("TARGET", options.target, "A filter in Redis")->required();
}

CallResult run(const Options& options) {
  if (auto is_file = check_is_file(options.target); !is_file)
    return fail(std::move(is_file).error());
  return fail(Errc::invalid_argument,
              fmt::format("'{0}' is a file: remove it with 'rm {0}'; drop is for filters in Redis",
                          options.target));
}

}  // namespace

void add_drop(CallTable& calls) {
  calls.add<Options>("drop", "Remove a filter from Redis (a file is removed with rm)", declare,
                     run);
}

}  // namespace guestlist
