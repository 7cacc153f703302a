#include <fmt/format.h>

#include <filesystem>

#include "commands.hpp"
#include "filter_choice.hpp"
#include "guestlist/base/units.hpp"
#include "numbers.hpp"
#include "publishing.hpp"
#include "redis_target.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
  SizeOptions size;
  HashOptions hash;
  std::string structure = "bloom";
  std::string key_type = "text";
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("TARGET", options.target, "A filter file, or a filter in Redis")->required();
  declare_size(command, options.size);
  declare_structure(command, options.structure);
  declare_key_type(command, options.key_type);
  declare_hash(command, options.hash);
  declare_json(command, options.json);
}

/// What an existing filter has otherwise than it was asked for; empty where nothing.
std::string difference(const FilterFile& file, const Options& options, const PlannedSize& size) {
  const FilterFileHeader& header = file.header();
  if (header.shape.capacity != size.items)
    return fmt::format("it was made for {} items", header.shape.capacity);
  if (header.shape.fpr != size.fpr)
    return fmt::format("it was made for an fpr of {}", header.shape.fpr);
  if (structure_name(header.shape) != options.structure) {
    return fmt::format("its structure is {}", structure_name(header.shape));
  }
  if (header.info.key_type != options.key_type)
    return fmt::format("its keys are {}", header.info.key_type);
  if (!options.hash.hash.empty() && name(header.hash) != options.hash.hash) {
    return fmt::format("its hash is {}", name(header.hash));
  }
  return "";
}

CallResult report(const Options& options, const AnyFilter& filter, std::uint64_t generation,
                  bool created) {
  boost::json::object figures = describe(filter);
  figures["generation"] = generation;
  figures["created"] = created;
  print_result(options.json, figures,
               fmt::format("{}: {}, {} for {} items at {}\n", options.target,
                           created ? "created" : "exists with the same parameters",
                           format_bytes(filter.size_bytes()), format_count(filter.shape().capacity),
                           filter.shape().fpr));
  return Exit::success;
}

/// Leaves the file that is there alone; fails where it is not as asked.
CallResult keep_existing(const Options& options, const PlannedSize& size) {
  const auto secret = read_secret(options.hash.secret_file);
  if (!secret) return fail(secret.error());
  const auto file = FilterFile::open(options.target, *secret);
  if (!file) return fail(file.error());
  const std::string other = difference(*file, options, size);
  if (!other.empty()) {
    return fail(Errc::already_exists,
                fmt::format("'{}' exists already and is left alone: {}; remove it, or "
                            "name another file",
                            options.target, other));
  }
  const auto filter = file->verified();
  if (!filter) return fail(filter.error());
  return report(options, **filter, file->header().info.generation, false);
}

CallResult create_in_redis(const Options& options, const PlannedSize& size, KeyType type) {
  const auto target = RedisTarget::parse(options.target, size);
  if (!target) return fail(target.error());
  auto created = Result<bool>(false);
  if (target->is_native()) {
    if (options.structure != "bloom") {
      return fail(Errc::invalid_argument,
                  fmt::format("--structure {}: a filter in Redis is of the structure bloom",
                              options.structure));
    }
    if (!options.hash.secret_file.empty()) {
      return fail(Errc::invalid_argument,
                  "--secret-file: a filter in Redis has a secret of its own in every generation");
    }
    SharedBuildOptions build;
    build.items = size.items;
    build.fpr = size.fpr;
    build.hash = options.hash.hash == "xxh3" ? HashKind::xxh3 : HashKind::siphash;
    build.shards = target->shards();
    build.key_type = type;
    build.longest_write = Duration::zero();
    build.patience = std::chrono::seconds(10);
    created = create_shared_filter(target->client(), target->name(), build);
  } else {
    created = target->filter().create(size.items, size.fpr, target->deadline());
  }
  if (!created) return fail(created.error());
  const auto facts = target->filter().inspect(target->deadline());
  if (!facts) return fail(facts.error());
  boost::json::object figures = describe(*facts);
  figures["created"] = *created;
  print_result(options.json, figures,
               fmt::format("{}: {}, {} for {} items at {}\n", target->text(),
                           *created ? "created" : "exists with the same parameters",
                           format_bytes(facts->size_bytes), format_count(size.items), size.fpr));
  return Exit::success;
}

CallResult run(const Options& options) {
  const auto size = parse_size(options.size.items, options.size.fpr);
  if (!size) return fail(size.error());
  const auto type = parse_key_type(options.key_type);
  if (!type) return fail(type.error());
  if (is_redis_url(options.target)) return create_in_redis(options, *size, *type);
  if (auto is_file = check_is_file(options.target); !is_file)
    return fail(std::move(is_file).error());
  if (std::filesystem::exists(options.target)) return keep_existing(options, *size);

  const auto chosen = choose_hasher(options.hash);
  if (!chosen) return fail(chosen.error());
  const auto filter = make_filter(options.structure, size->items, size->fpr, chosen->hasher);
  if (!filter) return fail(filter.error());
  FilterFileInfo info;
  info.key_type = options.key_type;
  info.origin = "created empty";
  const auto created = create_filter_file(options.target, *filter, info, chosen->placement);
  // Somebody else was faster, and has perhaps filled it already.
  if (!created && created.error().code == Errc::already_exists)
    return keep_existing(options, *size);
  if (!created) return fail(created.error());
  return report(options, *filter, info.generation, true);
}

}  // namespace

void add_create(CallTable& calls) {
  calls.add<Options>("create", "Make an empty filter; leave an existing one alone", declare, run);
}

}  // namespace guestlist
