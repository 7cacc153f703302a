#include <fmt/format.h>

#include "argument_keys.hpp"
#include "commands.hpp"
#include "filter_choice.hpp"
#include "guava_target.hpp"
#include "guestlist/base/units.hpp"
#include "publishing.hpp"
#include "redis_target.hpp"

namespace guestlist {
namespace {

using Options = KeyArguments;

void declare(CLI::App& command, Options& options) {
  declare_key_arguments(command, options);
  command.footer("Example: guestlist add ids.gl 1001 1002");
}

CallResult add_to_guava(const Options& options) {
  if (auto is_file = check_is_file(options.target); !is_file)
    return fail(std::move(is_file).error());
  const auto kind = parse_funnel(options.format);
  if (!kind) return fail(kind.error());
  const auto type = parse_key_type(options.key_type.empty() ? "text" : options.key_type);
  if (!type) return fail(type.error());
  const auto lock = FileLock::acquire(options.target);
  if (!lock) return fail(lock.error());
  auto filter = read_guava(options.target);
  if (!filter) return fail(std::move(filter).error());
  auto reader = read_argument_keys(options.keys, options.crlf);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = fill_guava(**reader, *type, *kind, *filter);
  if (!filled) return fail(filled.error());
  if (filled->added > 0) {
    if (auto written = write_guava(options.target, *filter); !written)
      return fail(std::move(written).error());
  }
  boost::json::object figures = describe(*filter);
  figures["lines"] = filled->keys;
  figures["added"] = filled->added;
  print_result(options.json, figures,
               fmt::format("{} of {} were new\n", filled->added, filled->keys));
  return Exit::success;
}

CallResult add_to_redis(const Options& options) {
  const auto target = RedisTarget::parse(options.target);
  if (!target) return fail(target.error());
  const auto of_filter = target->filter().open(target->deadline());
  if (!of_filter) return fail(of_filter.error());
  const auto type = agreed_key_type(*target, options.key_type, *of_filter);
  if (!type) return fail(type.error());
  auto reader = read_argument_keys(options.keys, options.crlf);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = for_each_batch(
      **reader, *type, [&](std::span<const std::string_view> keys) { return target->add(keys); });
  if (!filled) return fail(filled.error());
  if (filled->unparsable > 0) {
    return fail(Errc::invalid_argument,
                fmt::format("{} of {} keys are no {}; the others were added", filled->unparsable,
                            filled->keys, name(*type)));
  }
  print_result(options.json, {{"lines", filled->keys}, {"added", filled->added}},
               fmt::format("{} of {} were new\n", filled->added, filled->keys));
  return Exit::success;
}

CallResult run(const Options& options) {
  if (is_redis_url(options.target)) return add_to_redis(options);
  if (options.format.is_guava()) return add_to_guava(options);
  auto owned = own_file(options.target, options.secret_file);
  if (!owned) return fail(std::move(owned).error());
  const auto type = agreed_key_type(options.key_type, owned->header.info.key_type);
  if (!type) return fail(type.error());
  auto reader = read_argument_keys(options.keys, options.crlf);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = fill_from(**reader, *type, owned->filter);
  if (!filled) return fail(filled.error());
  if (filled->unparsable > 0) {
    return fail(Errc::invalid_argument, fmt::format("{} of {} keys are no {}; nothing was added",
                                                    filled->unparsable, filled->keys, name(*type)));
  }
  if (filled->added > 0) {
    auto written =
        write_filter_file(options.target, owned->filter, owned->header.info, owned->placement());
    if (!written) return fail(std::move(written).error());
  }
  warn_if_overfull(owned->filter);
  boost::json::object figures = describe(owned->filter);
  figures["generation"] = owned->header.info.generation;
  figures["lines"] = filled->keys;
  figures["added"] = filled->added;
  print_result(options.json, figures,
               fmt::format("{} of {} were new\n", filled->added, filled->keys));
  return Exit::success;
}

}  // namespace

void add_add(CallTable& calls) {
  calls.add<Options>("add", "Add keys to a filter, print how many were new", declare, run);
}

}  // namespace guestlist
