#include "guestlist/filter/structure_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "guestlist/base/units.hpp"
#include "guestlist/filter/bit_array.hpp"
#include "guestlist/filter/classic_sizing.hpp"
#include "guestlist/filter/counting_bloom_filter.hpp"
#include "guestlist/filter/cuckoo_filter.hpp"
#include "guestlist/filter/filter_plan.hpp"
#include "guestlist/filter/scalable_bloom_filter.hpp"

namespace guestlist {
namespace {

bool meets(Structure structure, const FilterNeeds& needs) noexcept {
  const bool can_delete = structure == Structure::counting_bloom || structure == Structure::cuckoo;
  const bool can_grow = structure == Structure::scalable_bloom;
  const bool can_count = structure == Structure::counting_bloom;
  return (!needs.deletes || can_delete) && (!needs.growth || can_grow) &&
         (!needs.counts || can_count);
}

/// Of blocks that a plan sized: one line a query.
StructureCandidate of_blocks(Structure structure, const FilterPlan& plan, double fpr) {
  return {structure, plan.layout(), plan.size_bytes(), 0, probes(plan.layout()), 1, fpr};
}

/// Of `unit_bits` a place in an array of any length. A query of an absent key ends at the first
/// empty place: sum over i < k of fill^i lines.
StructureCandidate of_places(Structure structure, std::uint64_t items, double fpr,
                             std::uint64_t unit_bits) {
  const ClassicSize size = classic_size(items, fpr);
  const double fill = std::pow(fpr, 1.0 / size.probes);
  return {structure,
          std::nullopt,
          BitArray::storage_bytes(size.bits * unit_bits),
          0,
          size.probes,
          (1 - fpr) / (1 - fill),
          classic_fpr(size, items)};
}

StructureCandidate of_buckets(std::uint64_t items) {
  constexpr std::uint64_t bucket_bits = CuckooFilter::slots_per_bucket * CuckooFilter::slot_bits;
  return {Structure::cuckoo,
          std::nullopt,
          BitArray::storage_bytes(CuckooFilter::buckets_for(items) * bucket_bits),
          0,
          2 * CuckooFilter::slots_per_bucket,
          2,
          CuckooFilter::full_fpr};
}

/// Every structure that reaches the rate, in the order in which they are preferred.
Result<std::vector<StructureCandidate>> structures_for(std::uint64_t items, double fpr) {
  std::vector<StructureCandidate> all;
  auto bloom = FilterPlan::make(items, fpr);
  if (!bloom) return fail(std::move(bloom).error());
  all.push_back(of_blocks(Structure::bloom, *bloom, fpr));
  all.push_back(of_places(Structure::classic_bloom, items, fpr, 1));
  if (fpr >= CuckooFilter::full_fpr) all.push_back(of_buckets(items));
  all.push_back(
      of_places(Structure::counting_bloom, items, fpr, CountingBloomFilter::counter_bits));
  if (fpr >= ScalableBloomFilter::min_fpr) {
    const double first_fpr = fpr * (1 - ScalableBloomFilter::tightening);
    auto first = FilterPlan::make(items, first_fpr);
    if (!first) return fail(std::move(first).error());
    all.push_back(of_blocks(Structure::scalable_bloom, *first, first_fpr));
  }
  for (StructureCandidate& one : all)
    one.bits_per_key = 8 * static_cast<double>(one.size_bytes) / static_cast<double>(items);
  return all;
}

std::string reason_for(const StructureCandidate& chosen, std::uint64_t items,
                       const FilterNeeds& needs) {
  switch (chosen.structure) {
    case Structure::bloom:
    case Structure::classic_bloom:
      break;
    case Structure::counting_bloom:
      if (needs.counts) return "only a counting filter knows how often a key was inserted";
      return fmt::format(
          "at this rate counters are the smallest that can delete: {:.1f} bits a key",
          chosen.bits_per_key);
    case Structure::scalable_bloom:
      return fmt::format(
          "only a scalable filter takes more than the {} keys planned; each doubling "
          "adds a layer, and a cache line to every query",
          format_count(items));
    case Structure::cuckoo:
      return fmt::format("the smallest that can delete: {:.1f} bits a key, two cache lines a query",
                         chosen.bits_per_key);
  }
  return fmt::format(
      "one cache line a query at {:.1f} bits a key; take another only to delete, to "
      "grow, or to save the last bits",
      chosen.bits_per_key);
}

tl::unexpected<Error> no_structure(double fpr, const FilterNeeds& needs) {
  if (needs.growth && (needs.deletes || needs.counts)) {
    return fail(
        Errc::invalid_argument,
        "no structure grows and also deletes or counts; plan one that does not grow for the "
        "most keys that there can be, or rebuild instead of deleting");
  }
  return fail(
      Errc::invalid_argument,
      fmt::format("no structure that grows keeps a false positive rate of {}; ask for {} or "
                  "more, or plan for the most keys that there can be",
                  fpr, ScalableBloomFilter::min_fpr));
}

}  // namespace

Result<StructurePlan> plan_structures(std::uint64_t items, double fpr, const FilterNeeds& needs) {
  if (auto valid = check_items_and_fpr(items, fpr); !valid) return fail(std::move(valid).error());
  auto all = structures_for(items, fpr);
  if (!all) return fail(std::move(all).error());
  StructurePlan plan;
  std::ranges::copy_if(*all, std::back_inserter(plan.candidates),
                       [&](const auto& one) { return meets(one.structure, needs); });
  if (plan.candidates.empty()) return no_structure(fpr, needs);
  // Without needs the native filter, for its speed; else the smallest that does what is needed.
  if (needs.deletes || needs.growth || needs.counts) {
    const auto smallest =
        std::ranges::min_element(plan.candidates, {}, &StructureCandidate::size_bytes);
    plan.choice = static_cast<std::size_t>(smallest - plan.candidates.begin());
  }
  plan.reason = reason_for(plan.chosen(), items, needs);
  return plan;
}

}  // namespace guestlist
