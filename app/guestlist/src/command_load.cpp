#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "argument_keys.hpp"
#include "commands.hpp"
#include "filling.hpp"
#include "filter_choice.hpp"
#include "guestlist/base/units.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "publishing.hpp"
#include "redis_target.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
  InputOptions inputs;
  std::string items;
  std::string fpr;
  std::string secret_file;
  std::string hash;
  std::string key_type;
  double longest_write_seconds = 0;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command
      .add_option("TARGET", options.target, "A filter file, which must exist, or a filter in Redis")
      ->required();
  declare_inputs(command, options.inputs);
  command.add_option("--items", options.items, "Planned number of keys; else as before")
      ->type_name("N");
  command.add_option("--fpr", options.fpr, "False positive rate; else as before")->type_name("P");
  declare_secret_file(command, options.secret_file);
  command.add_option("--hash", options.hash, "Redis: siphash (the default) or xxh3")
      ->check(CLI::IsMember({"siphash", "xxh3"}));
  declare_key_type(command, options.key_type);
  command
      .add_option("--longest-write", options.longest_write_seconds,
                  "Redis: wait so long before reading, where earlier adds may be lost and "
                  "their rows be committed later")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  declare_json(command, options.json);
  command.footer(
      "The keys of the input replace those of the filter: it is built aside and published whole, "
      "as the "
      "next generation.");
}

CallResult report(const Options& options, const RedisTarget& target, const Filled& filled,
                  KeyType type) {
  const auto facts = target.filter().inspect(target.deadline());
  if (!facts) return fail(facts.error());
  warn_of_unparsable(filled, type);
  boost::json::object figures = describe(*facts);
  figures["lines"] = filled.keys;
  figures["unknown"] = filled.unparsable;
  figures["seconds"] = filled.seconds;
  figures["keys_per_second"] = static_cast<double>(filled.keys) / std::max(filled.seconds, 1e-9);
  print_result(options.json, figures,
               fmt::format("{}: generation {}, {} keys\n", target.text(), facts->generation,
                           format_count(filled.keys)));
  return Exit::success;
}

Error no_keys(const RedisTarget& target) {
  return {Errc::invalid_argument,
          fmt::format("the input has no keys; {} is left as it was", target.text())};
}

/// A new generation, built in memory and swapped in.
CallResult load_native(const Options& options, const RedisTarget& target, std::uint64_t items,
                       double fpr, KeyType type) {
  const auto began = std::chrono::steady_clock::now();
  std::optional<Progress> upload;
  SharedBuildOptions build;
  build.items = items;
  build.fpr = fpr;
  build.hash = options.hash == "xxh3" ? HashKind::xxh3 : HashKind::siphash;
  build.shards = target.shards();
  build.key_type = type;
  build.longest_write = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(options.longest_write_seconds));
  build.wait_for_builder = std::chrono::seconds(60);
  build.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!upload) upload.emplace("uploading", total, Progress::Unit::bytes);
    (*upload)(done);
  };
  auto reader = KeyReader::open(options.inputs);
  if (!reader) return fail(std::move(reader).error());
  auto builder = SharedFilterBuilder::begin(target.client(), target.name(), build);
  if (!builder) return fail(std::move(builder).error());
  auto filled = for_each_batch(
      **reader, type, [&](std::span<const std::string_view> keys) -> Result<std::uint64_t> {
        if (auto inserted = builder->insert(keys); !inserted)
          return fail(std::move(inserted).error());
        return keys.size();
      });
  if (!filled) return fail(std::move(filled).error());
  if (filled->keys == 0) return fail(no_keys(target));
  if (auto published = builder->publish(); !published) return fail(std::move(published).error());
  upload.reset();
  filled->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return report(options, target, *filled, type);
}

/// Formats of others have no generations: what is there gets the keys as well.
CallResult load_foreign(const Options& options, const RedisTarget& target, bool is_there,
                        std::uint64_t items, double fpr, KeyType type) {
  auto reader = KeyReader::open(options.inputs);
  if (!reader) return fail(std::move(reader).error());
  if (!is_there) {
    if (auto created = target.filter().create(items, fpr, target.deadline()); !created)
      return fail(std::move(created).error());
  }
  const auto filled = for_each_batch(
      **reader, type, [&](std::span<const std::string_view> keys) { return target.add(keys); });
  if (!filled) return fail(filled.error());
  if (filled->keys == 0) return fail(no_keys(target));
  return report(options, target, *filled, type);
}

CallResult load_into_redis(const Options& options) {
  const auto fpr = options.fpr.empty() ? Result<double>(0.01) : parse_fpr(options.fpr);
  if (!fpr) return fail(fpr.error());
  auto items = options.items.empty() ? Result<std::uint64_t>(0) : parse_items(options.items);
  if (!items) return fail(items.error());
  // Without a size the target is only asked whether it is there.
  auto target = RedisTarget::parse(
      options.target, *items == 0 ? std::nullopt : std::optional(PlannedSize{*items, *fpr}));
  if (!target) return fail(std::move(target).error());
  const auto there = target->filter().open(target->deadline());
  if (!there && there.error().code != Errc::not_found) return fail(there.error());
  const auto type = there ? agreed_key_type(*target, options.key_type, *there)
                          : parse_key_type(options.key_type.empty() ? "text" : options.key_type);
  if (!type) return fail(type.error());
  double rate = *fpr;
  if (there) {
    const auto facts = target->filter().inspect(target->deadline());
    if (!facts) return fail(facts.error());
    if (options.items.empty()) items = facts->capacity;
    if (options.fpr.empty() && facts->fpr > 0) rate = facts->fpr;
  }
  if (*items == 0) {
    items = count_keys(options.inputs);
    if (!items) return fail(items.error());
  }
  return target->is_native()
             ? load_native(options, *target, *items, rate, *type)
             : load_foreign(options, *target, there.has_value(), *items, rate, *type);
}

CallResult run(const Options& options) {
  if (is_redis_url(options.target)) return load_into_redis(options);
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
