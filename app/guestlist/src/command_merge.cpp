#include <fmt/format.h>

#include "commands.hpp"
#include "filter_choice.hpp"
#include "guava_target.hpp"
#include "guestlist/base/units.hpp"
#include "publishing.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string secret_file;
  FormatOptions format;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("FILE", options.inputs, "Filter files of one shape and one secret")
      ->required()
      ->expected(2, -1);
  command.add_option("-o,--output", options.output, "The filter file to write")
      ->required()
      ->type_name("FILE");
  declare_secret_file(command, options.secret_file);
  declare_format(command, options.format, false);
  declare_json(command, options.json);
  command.footer("Example: guestlist merge monday.gl tuesday.gl -o both.gl");
}

CallResult merge_guava(const Options& options) {
  std::optional<GuavaBloomFilter> merged;
  for (const std::string& path : options.inputs) {
    auto filter = read_guava(path);
    if (!filter) return fail(std::move(filter).error());
    if (!merged) {
      merged.emplace(std::move(*filter));
    } else if (auto done = merged->merge(*filter); !done) {
      return fail(done.error().code,
                  fmt::format("'{}' and '{}' do not merge: {}", options.inputs.front(), path,
                              done.error().message()));
    }
  }
  const auto lock = lock_existing(options.output);
  if (!lock) return fail(lock.error());
  if (auto written = write_guava(options.output, *merged); !written)
    return fail(std::move(written).error());
  print_result(options.json, describe(*merged),
               fmt::format("{}: merged from {} streams\n", options.output, options.inputs.size()));
  return Exit::success;
}

CallResult run(const Options& options) {
  for (const std::string& path : options.inputs) {
    if (auto is_file = check_is_file(path); !is_file) return fail(std::move(is_file).error());
  }
  if (auto is_file = check_is_file(options.output); !is_file)
    return fail(std::move(is_file).error());
  if (auto writable = check_can_write(options.output); !writable)
    return fail(std::move(writable).error());
  if (options.format.is_guava()) return merge_guava(options);
  const auto secret = read_secret(options.secret_file);
  if (!secret) return fail(secret.error());
  std::optional<AnyFilter> merged;
  std::optional<FilterFileHeader> first;
  for (const std::string& path : options.inputs) {
    const auto file = FilterFile::open(path, *secret);
    if (!file) return fail(file.error());
    if (!merged) {
      auto loaded = file->load();
      if (!loaded) return fail(std::move(loaded).error());
      merged.emplace(std::move(*loaded));
      first = file->header();
      continue;
    }
    if (file->header().info.key_type != first->info.key_type) {
      return fail(Errc::mismatched,
                  fmt::format("'{}' has keys of type {}, '{}' of type {}", options.inputs.front(),
                              first->info.key_type, path, file->header().info.key_type));
    }
    const auto other = file->verified();
    if (!other) return fail(other.error());
    if (auto done = merged->merge(**other); !done) {
      return fail(
          done.error().code,
          fmt::format("'{}' and '{}' do not merge: {}; build both with the same --items, --fpr, "
                      "--hash and secret",
                      options.inputs.front(), path, done.error().message()));
    }
  }
  const auto lock = lock_existing(options.output);
  if (!lock) return fail(lock.error());
  FilterFileInfo info;
  info.key_type = first->info.key_type;
  info.origin = fmt::format("merged from {} filters", options.inputs.size());
  const auto placement = first->secret ? SecretPlacement::in_file : SecretPlacement::elsewhere;
  if (auto written = write_filter_file(options.output, *merged, info, placement); !written) {
    return fail(std::move(written).error());
  }
  warn_if_overfull(*merged);
  boost::json::object figures = describe_with_content(*merged);
  figures["generation"] = info.generation;
  print_result(options.json, figures,
               fmt::format("{}: about {} keys, fpr now {:.3g}\n", options.output,
                           format_count(merged->approximate_count()), merged->fpr_now()));
  return Exit::success;
}

}  // namespace

void add_merge(CallTable& calls) {
  calls.add<Options>("merge", "Write the union of filters of one shape", declare, run);
}

}  // namespace guestlist
