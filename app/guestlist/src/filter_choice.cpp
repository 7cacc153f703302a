#include "filter_choice.hpp"

#include <fmt/format.h>

#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

template <class F>
Result<AnyFilter> any(Result<F> filter) {
  if (!filter) return fail(std::move(filter).error());
  return AnyFilter(std::move(*filter));
}

Result<AnyFilter> make_blocked(Result<FilterPlan> plan, const KeyHasher& hasher) {
  if (!plan) return fail(std::move(plan).error());
  return any(BloomFilter::make(*plan, hasher));
}

}  // namespace

void declare_structure(CLI::App& command, std::string& structure) {
  command
      .add_option("--structure", structure,
                  "bloom, split-block, classic-bloom, counting-bloom, scalable-bloom or cuckoo")
      ->check(CLI::IsMember(
          {"bloom", "split-block", "classic-bloom", "counting-bloom", "scalable-bloom", "cuckoo"}))
      ->type_name("NAME");
}

Result<AnyFilter> make_filter(const std::string& structure, std::uint64_t items, double fpr,
                              const KeyHasher& hasher) {
  if (structure.empty() || structure == "bloom")
    return make_blocked(FilterPlan::make(items, fpr), hasher);
  if (structure == "split-block") {
    return make_blocked(FilterPlan::make(items, fpr, BlockLayout::split_block), hasher);
  }
  if (structure == "classic-bloom") return any(ClassicBloomFilter::make(items, fpr, hasher));
  if (structure == "counting-bloom") return any(CountingBloomFilter::make(items, fpr, hasher));
  if (structure == "scalable-bloom") return any(ScalableBloomFilter::make(items, fpr, hasher));
  if (structure == "cuckoo") return any(CuckooFilter::make(items, fpr, hasher));
  return fail(Errc::invalid_argument,
              fmt::format("--structure '{}': there is no such structure", structure));
}

std::string structure_name(const FilterShape& shape) {
  const bool is_split_block =
      shape.structure == Structure::bloom && !shape.layers.empty() &&
      shape.layers.front().layout == static_cast<std::uint32_t>(BlockLayout::split_block);
  return is_split_block ? "split-block" : std::string(name(shape.structure));
}

boost::json::object describe(const AnyFilter& filter) {
  const FilterShape shape = filter.shape();
  const std::uint64_t bits = filter.size_bytes() * 8;
  std::uint64_t items = 0;
  for (const LayerShape& layer : shape.layers) items += layer.items;
  boost::json::object figures;
  figures["structure"] = structure_name(shape);
  figures["items"] = items;
  figures["capacity"] = shape.capacity;
  figures["fpr"] = shape.fpr;
  figures["bits"] = bits;
  figures["bits_per_key"] =
      static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(1, shape.capacity));
  figures["size_bytes"] = filter.size_bytes();
  figures["hash"] = std::string(name(filter.hasher().kind()));
  return figures;
}

boost::json::object describe_with_content(const AnyFilter& filter) {
  boost::json::object figures = describe(filter);
  figures["fill"] = filter.fill();
  figures["estimated_items"] = filter.approximate_count();
  figures["fpr_now"] = filter.fpr_now();
  return figures;
}

}  // namespace guestlist
