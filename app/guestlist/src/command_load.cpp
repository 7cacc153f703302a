#include <fmt/format.h>

#include <algorithm>

#include "argument_keys.hpp"
#include "commands.hpp"
#include "filling.hpp"
#include "filter_choice.hpp"
#include "guestlist/base/units.hpp"
#include "numbers.hpp"
#include "publishing.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
  InputOptions inputs;
  std::string items;
  std::string fpr;
  std::string secret_file;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("TARGET", options.target, "The filter file; it must exist")->required();
  declare_inputs(command, options.inputs);
  command.add_option("--items", options.items, "Planned number of keys; else as before")
      ->type_name("N");
  command.add_option("--fpr", options.fpr, "False positive rate; else as before")->type_name("P");
  declare_secret_file(command, options.secret_file);
  declare_json(command, options.json);
  command.footer(
      "The keys of the input replace those of the filter: it is built aside and published whole, "
      "as the "
      "next generation.");
}

CallResult run(const Options& options) {
  auto owned = own_file(options.target, options.secret_file);
  if (!owned) return fail(std::move(owned).error());
  const FilterShape old = owned->filter.shape();
  const auto items =
      options.items.empty() ? Result<std::uint64_t>(old.capacity) : parse_items(options.items);
  if (!items) return fail(items.error());
  const auto fpr = options.fpr.empty() ? Result<double>(old.fpr) : parse_fpr(options.fpr);
  if (!fpr) return fail(fpr.error());
  const auto type = agreed_key_type("", owned->header.info.key_type);
  if (!type) return fail(type.error());
  // The same secret: readers that were given it go on.
  auto filter = make_filter(structure_name(old), *items, *fpr, owned->filter.hasher());
  if (!filter) return fail(std::move(filter).error());
  auto reader = KeyReader::open(options.inputs);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = fill_from(**reader, *type, *filter);
  if (!filled) return fail(filled.error());
  if (filled->keys == 0) {
    return fail(Errc::invalid_argument,
                fmt::format("the input has no keys; '{}' is left as it was", options.target));
  }
  FilterFileInfo info = owned->header.info;
  ++info.generation;
  info.origin = origin_of(options.inputs);
  info.created_at = FilterFileInfo().created_at;
  if (auto written = write_filter_file(options.target, *filter, info, owned->placement());
      !written) {
    return fail(std::move(written).error());
  }
  warn_if_overfull(*filter);
  warn_of_unparsable(*filled, *type);
  boost::json::object figures = describe_with_content(*filter);
  figures["generation"] = info.generation;
  figures["lines"] = filled->keys;
  figures["added"] = filled->added;
  figures["unknown"] = filled->unparsable;
  figures["seconds"] = filled->seconds;
  figures["keys_per_second"] = static_cast<double>(filled->keys) / std::max(filled->seconds, 1e-9);
  print_result(options.json, figures,
               fmt::format("{}: generation {}, {} keys\n", options.target, info.generation,
                           format_count(filled->keys)));
  return Exit::success;
}

}  // namespace

void add_load(CallTable& calls) {
  calls.add<Options>("load", "Replace a filter's keys: build aside, publish as the next generation",
                     declare, run);
}

}  // namespace guestlist
