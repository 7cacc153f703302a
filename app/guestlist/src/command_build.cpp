#include <fmt/format.h>

#include <algorithm>

#include "commands.hpp"
#include "filling.hpp"
#include "filter_choice.hpp"
#include "guava_target.hpp"
#include "guestlist/base/units.hpp"
#include "numbers.hpp"
#include "publishing.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  InputOptions inputs;
  std::string output;
  SizeOptions size;
  HashOptions hash;
  FormatOptions format;
  std::string structure = "bloom";
  std::string key_type = "text";
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  declare_inputs(command, options.inputs);
  command.add_option("-o,--output", options.output, "The filter file to write")
      ->required()
      ->type_name("FILE");
  declare_size(command, options.size);
  declare_structure(command, options.structure);
  declare_key_type(command, options.key_type);
  declare_hash(command, options.hash);
  declare_format(command, options.format, true);
  declare_json(command, options.json);
  command.footer("Example: guestlist build ids.txt -o ids.gl --fpr 0.001");
}

CallResult build_guava(const Options& options, std::uint64_t items, double fpr, KeyType type) {
  const auto kind = parse_funnel(options.format);
  if (!kind) return fail(kind.error());
  auto filter = GuavaBloomFilter::make(items, fpr, parse_strategy(options.format),
                                       parse_sizing(options.format));
  if (!filter) return fail(std::move(filter).error());
  auto reader = KeyReader::open(options.inputs);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = fill_guava(**reader, type, *kind, *filter);
  if (!filled) return fail(filled.error());
  const auto lock = lock_existing(options.output);
  if (!lock) return fail(lock.error());
  if (auto written = write_guava(options.output, *filter); !written)
    return fail(std::move(written).error());
  boost::json::object figures = describe(*filter);
  figures["capacity"] = items;
  figures["fpr"] = fpr;
  figures["items"] = filled->added;
  figures["lines"] = filled->keys;
  figures["added"] = filled->added;
  figures["bits_per_key"] = static_cast<double>(filter->size().bits) / static_cast<double>(items);
  figures["seconds"] = filled->seconds;
  figures["keys_per_second"] = static_cast<double>(filled->keys) / std::max(filled->seconds, 1e-9);
  print_result(options.json, figures,
               fmt::format("{}: {} keys in a Guava stream of {} bits\n", options.output,
                           format_count(filled->keys), format_count(filter->size().bits)));
  return Exit::success;
}

CallResult run(const Options& options) {
  if (auto is_file = check_is_file(options.output); !is_file)
    return fail(std::move(is_file).error());
  const auto fpr = parse_fpr(options.size.fpr);
  if (!fpr) return fail(fpr.error());
  const auto type = parse_key_type(options.key_type);
  if (!type) return fail(type.error());
  // Found out before the work, not after it.
  if (auto writable = check_can_write(options.output); !writable)
    return fail(std::move(writable).error());
  const auto items =
      options.size.items.empty() ? count_keys(options.inputs) : parse_items(options.size.items);
  if (!items) return fail(items.error());
  if (options.format.is_guava()) return build_guava(options, *items, *fpr, *type);
  const auto chosen = choose_hasher(options.hash);
  if (!chosen) return fail(chosen.error());
  auto filter = make_filter(options.structure, *items, *fpr, chosen->hasher);
  if (!filter) return fail(std::move(filter).error());
  auto reader = KeyReader::open(options.inputs);
  if (!reader) return fail(std::move(reader).error());
  const auto filled = fill_from(**reader, *type, *filter);
  if (!filled) return fail(filled.error());
  if (filled->keys == 0 && options.size.items.empty()) {
    return fail(Errc::invalid_argument,
                "the input has no keys; give --items to build an empty filter on purpose");
  }

  const auto lock = lock_existing(options.output);
  if (!lock) return fail(lock.error());
  FilterFileInfo info;
  info.key_type = name(*type);
  info.origin = origin_of(options.inputs);
  if (auto written = write_filter_file(options.output, *filter, info, chosen->placement);
      !written) {
    return fail(std::move(written).error());
  }
  boost::json::object figures = describe_with_content(*filter);
  figures["lines"] = filled->keys;
  figures["added"] = filled->added;
  figures["unknown"] = filled->unparsable;
  figures["generation"] = info.generation;
  figures["seconds"] = filled->seconds;
  figures["keys_per_second"] = static_cast<double>(filled->keys) / std::max(filled->seconds, 1e-9);
  warn_if_overfull(*filter);
  warn_of_unparsable(*filled, *type);
  print_result(
      options.json, figures,
      fmt::format("{}: {} keys, {} for {} planned, fpr now {:.3g} ({:.3g} asked), {} keys/s\n",
                  options.output, format_count(filled->keys), format_bytes(filter->size_bytes()),
                  format_count(*items), filter->fpr_now(), *fpr,
                  format_count(static_cast<std::uint64_t>(static_cast<double>(filled->keys) /
                                                          std::max(filled->seconds, 1e-9)))));
  return Exit::success;
}

}  // namespace

void add_build(CallTable& calls) {
  calls.add<Options>("build", "Read keys, write a filter file", declare, run);
}

}  // namespace guestlist
