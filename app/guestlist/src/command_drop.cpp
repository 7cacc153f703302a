#include <fmt/format.h>

#include "commands.hpp"
#include "redis_target.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("TARGET", options.target, "A filter in Redis")->required();
  declare_json(command, options.json);
}

CallResult run(const Options& options) {
  if (is_redis_url(options.target)) {
    // What is removed needs no size: any will do for a format that would want one.
    const auto target = RedisTarget::parse(options.target, PlannedSize{1000, 0.01});
    if (!target) return fail(target.error());
    const auto removed = target->filter().drop(target->deadline());
    if (!removed) return fail(removed.error());
    print_result(options.json, {{"keys_removed", *removed}},
                 fmt::format("{}: dropped\n", target->text()));
    return Exit::success;
  }
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
