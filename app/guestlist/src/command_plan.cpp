#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "commands.hpp"
#include "guestlist/base/units.hpp"
#include "guestlist/filter/structure_plan.hpp"
#include "numbers.hpp"

namespace guestlist {
namespace {

struct Options {
  SizeOptions size;
  FilterNeeds needs;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  declare_size(command, options.size);
  command.add_flag("--deletes", options.needs.deletes, "Keys must be removable");
  command.add_flag("--grows", options.needs.growth, "The number of keys is not known beforehand");
  command.add_flag("--counts", options.needs.counts, "How often a key was inserted must be known");
  declare_json(command, options.json);
  command.footer("Example: guestlist plan --items 1000000 --fpr 0.01");
}

/// As `--structure` takes it.
std::string name_of(const StructureCandidate& candidate) {
  const bool is_split_block = candidate.layout == BlockLayout::split_block;
  return std::string(is_split_block ? name(BlockLayout::split_block) : name(candidate.structure));
}

boost::json::object to_json(const StructureCandidate& candidate) {
  return {{"structure", name_of(candidate)},
          {"bits", candidate.size_bytes * 8},
          {"bits_per_key", candidate.bits_per_key},
          {"size_bytes", candidate.size_bytes},
          {"probes", candidate.probes},
          {"cache_misses", candidate.cache_misses},
          {"fpr", candidate.fpr}};
}

std::string to_row(const StructureCandidate& candidate, bool is_chosen) {
  return fmt::format("{} {:<16}{:>12}{:>10.2f}{:>8}{:>14.1f}{:>10.2g}\n", is_chosen ? "*" : " ",
                     name_of(candidate), format_bytes(candidate.size_bytes), candidate.bits_per_key,
                     candidate.probes, candidate.cache_misses, candidate.fpr);
}

CallResult run(const Options& options) {
  const auto size = parse_size(options.size.items, options.size.fpr);
  if (!size) return fail(size.error());
  const auto plan = plan_structures(size->items, size->fpr, options.needs);
  if (!plan) return fail(plan.error());
  const StructureCandidate& chosen = plan->chosen();

  boost::json::array all;
  std::string text =
      fmt::format("{} items at an fpr of {}\n\n  {:<16}{:>12}{:>10}{:>8}{:>14}{:>10}\n",
                  format_count(size->items), size->fpr, "structure", "memory", "bits/key", "probes",
                  "cache misses", "fpr");
  for (const StructureCandidate& candidate : plan->candidates) {
    all.push_back(to_json(candidate));
    text += to_row(candidate, &candidate == &chosen);
  }
  text += fmt::format("\nTake {}: {}\n", name_of(chosen), plan->reason);
  boost::json::object figures = to_json(chosen);
  figures["items"] = size->items;
  figures["capacity"] = size->items;
  figures["reason"] = plan->reason;
  figures["structures"] = std::move(all);
  print_result(options.json, figures, text);
  return Exit::success;
}

}  // namespace

void add_plan(CallTable& calls) {
  calls.add<Options>("plan", "Compare structures: memory, bits per key, and which to take", declare,
                     run);
}

}  // namespace guestlist
