#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <chrono>
#include <filesystem>

#include "commands.hpp"
#include "filling.hpp"
#include "filter_choice.hpp"
#include "guestlist/base/units.hpp"
#include "guestlist/filter/block_sizing.hpp"
#include "numbers.hpp"
#include "output_lines.hpp"
#include "progress.hpp"
#include "publishing.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  InputOptions inputs;
  SizeOptions size;
  HashOptions hash;
  std::string state;
  bool json = false;
};

struct Summary {
  std::uint64_t lines = 0;
  std::uint64_t duplicates = 0;
  double expected_false_drops = 0;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("INPUT", options.inputs.paths,
                     "Files with lines; none or '-': standard input");
  declare_size(command, options.size);
  command
      .add_option("--state", options.state, "Keep what was seen in this filter file between runs")
      ->type_name("FILE");
  declare_hash(command, options.hash);
  declare_json(command, options.json);
  command.footer(
      "Prints each line the first time it is seen; the summary goes to stderr.\n"
      "Example: guestlist dedup events.log --items 1e8 --fpr 1e-6 > once.log");
}

/// Prints what is new of a stream of lines. A line that is new and a false positive is dropped: how
/// many to expect is summed up from the fpr at each moment.
class Deduplication {
 public:
  explicit Deduplication(BloomFilter& filter)
      : filter_(filter), seen_(filter.approximate_count()) {}

  Result<void> take(const std::vector<std::string_view>& lines, OutputLines& output) {
    hashes_.clear();
    for (const std::string_view line : lines) hashes_.push_back(filter_.hasher()(line));
    // The batch query fetches every line of the filter ahead, so that the inserts below find it in
    // the cache.
    const std::span<bool> found(found_storage(lines.size()), lines.size());
    filter_.may_contain_many(hashes_, found);
    std::uint64_t printed = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (found[i] || !filter_.insert(hashes_[i])) continue;
      ++printed;
      output.append(lines[i]);
      output.append('\n');
    }
    summary_.lines += lines.size();
    summary_.duplicates += lines.size() - printed;
    const double fpr = fpr_of(filter_.layout(), seen_ + printed / 2, filter_.block_count());
    summary_.expected_false_drops += static_cast<double>(printed) * fpr / (1 - fpr);
    seen_ += printed;
    return output.flush_if_full();
  }

  const Summary& summary() const noexcept { return summary_; }

 private:
  bool* found_storage(std::size_t size) {
    if (size > found_size_) {
      found_ = std::make_unique<bool[]>(size);
      found_size_ = size;
    }
    return found_.get();
  }

  BloomFilter& filter_;
  std::uint64_t seen_;
  Summary summary_;
  std::vector<KeyHash> hashes_;
  std::unique_ptr<bool[]> found_;
  std::size_t found_size_ = 0;
};

struct State {
  AnyFilter filter;
  FilterFileInfo info;
  SecretPlacement placement = SecretPlacement::in_file;
  std::optional<FileLock> lock;
};

Result<State> new_state(const Options& options) {
  const auto fpr = parse_fpr(options.size.fpr);
  if (!fpr) return fail(fpr.error());
  InputOptions counted = options.inputs;
  counted.skip_blank = false;
  const auto items =
      options.size.items.empty() ? count_keys(counted) : parse_items(options.size.items);
  if (!items) return fail(items.error());
  // What never leaves the process needs no key that others could guess, only speed.
  const bool leaves_process = !options.state.empty() || !options.hash.secret_file.empty();
  auto chosen =
      leaves_process
          ? choose_hasher(options.hash, HashKind::xxh3)
          : Result<ChosenHasher>(ChosenHasher{
                make_hasher(options.hash.hash == "siphash" ? HashKind::siphash : HashKind::xxh3,
                            Secret::random()),
                SecretPlacement::in_file});
  if (!chosen) return fail(std::move(chosen).error());
  auto filter = make_filter("bloom", *items, *fpr, chosen->hasher);
  if (!filter) return fail(std::move(filter).error());
  FilterFileInfo info;
  info.origin = "lines that dedup has seen";
  return State{std::move(*filter), info, chosen->placement, std::nullopt};
}

Result<State> kept_state(const Options& options) {
  auto owned = own_file(options.state, options.hash.secret_file);
  if (!owned) return fail(std::move(owned).error());
  const FilterShape shape = owned->filter.shape();
  if (structure_name(shape) != "bloom") {
    return fail(Errc::mismatched,
                fmt::format("'{}' is a {} filter; dedup keeps its state in a bloom filter",
                            options.state, structure_name(shape)));
  }
  if (!options.size.items.empty()) {
    const auto size = parse_size(options.size.items, options.size.fpr);
    if (!size) return fail(size.error());
    if (size->items != shape.capacity || size->fpr != shape.fpr) {
      return fail(
          Errc::mismatched,
          fmt::format("'{}' was made with --items {} --fpr {}; give the same, or another --state",
                      options.state, shape.capacity, shape.fpr));
    }
  }
  const SecretPlacement placement = owned->placement();
  return State{std::move(owned->filter), owned->header.info, placement, std::move(owned->lock)};
}

CallResult run(const Options& options) {
  const bool has_state = !options.state.empty() && std::filesystem::exists(options.state);
  if (!options.state.empty()) {
    if (auto is_file = check_is_file(options.state); !is_file)
      return fail(std::move(is_file).error());
    if (auto writable = check_can_write(options.state); !writable)
      return fail(std::move(writable).error());
  }
  auto state = has_state ? kept_state(options) : new_state(options);
  if (!state) return fail(std::move(state).error());
  InputOptions inputs = options.inputs;
  inputs.skip_blank = false;
  auto reader = KeyReader::open(inputs);
  if (!reader) return fail(std::move(reader).error());

  const auto began = std::chrono::steady_clock::now();
  Progress progress("dedup", (*reader)->input().total_bytes(), Progress::Unit::bytes);
  Deduplication deduplication(std::get<BloomFilter>(state->filter.variant()));
  OutputLines output;
  std::vector<std::string_view> lines;
  while (true) {
    if (auto read = (*reader)->next(lines); !read) return fail(std::move(read).error());
    if (lines.empty()) break;
    if (auto taken = deduplication.take(lines, output); !taken)
      return fail(std::move(taken).error());
    progress((*reader)->input().bytes_read());
  }
  if (auto flushed = output.flush(); !flushed) return fail(std::move(flushed).error());
  if (!options.state.empty()) {
    auto written = write_filter_file(options.state, state->filter, state->info, state->placement);
    if (!written) return fail(std::move(written).error());
  }

  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Summary& summary = deduplication.summary();
  warn_if_overfull(state->filter);
  if (options.json) {
    // Standard output carries the lines.
    boost::json::object figures = describe(state->filter);
    figures["lines"] = summary.lines;
    figures["duplicates"] = summary.duplicates;
    figures["added"] = summary.lines - summary.duplicates;
    figures["expected_false_drops"] = summary.expected_false_drops;
    figures["seconds"] = seconds;
    figures["keys_per_second"] = static_cast<double>(summary.lines) / std::max(seconds, 1e-9);
    fmt::print(stderr, "{}\n", boost::json::serialize(figures));
  } else {
    fmt::print(
        stderr,
        "{} lines, {} duplicates; expect {:.1f} new lines among them, dropped as false positives\n",
        format_count(summary.lines), format_count(summary.duplicates),
        summary.expected_false_drops);
  }
  return Exit::success;
}

}  // namespace

void add_dedup(CallTable& calls) {
  calls.add<Options>("dedup", "Print each line the first time it is seen", declare, run);
}

}  // namespace guestlist
