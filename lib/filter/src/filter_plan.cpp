#include "guestlist/filter/filter_plan.hpp"

#include <fmt/format.h>

#include "guestlist/base/units.hpp"
#include "guestlist/filter/block_sizing.hpp"

namespace guestlist {

Result<void> check_items_and_fpr(std::uint64_t items, double fpr) {
  if (items == 0) {
    return fail(Errc::invalid_argument, "a filter for 0 items is of no use; plan for at least 1");
  }
  if (items > FilterPlan::max_items) {
    return fail(Errc::too_large,
                fmt::format("{} items are more than a filter can have; plan for at most {}",
                            format_count(items), format_count(FilterPlan::max_items)));
  }
  // Written so that NaN fails too.
  if (!(fpr >= FilterPlan::min_fpr && fpr <= FilterPlan::max_fpr)) {
    return fail(Errc::invalid_argument,
                fmt::format("a false positive rate of {} is not possible; it must be from {} to {}",
                            fpr, FilterPlan::min_fpr, FilterPlan::max_fpr));
  }
  return {};
}

Result<FilterPlan> FilterPlan::make(std::uint64_t items, double fpr) {
  if (auto checked = check_items_and_fpr(items, fpr); !checked)
    return fail(std::move(checked).error());
  const bool two_bits_are_smaller = bits_per_key_for(BlockLayout::split_line_16, fpr) <
                                    bits_per_key_for(BlockLayout::split_line, fpr);
  return make(items, fpr,
              two_bits_are_smaller ? BlockLayout::split_line_16 : BlockLayout::split_line);
}

Result<FilterPlan> FilterPlan::make(std::uint64_t items, double fpr, BlockLayout layout) {
  if (auto checked = check_items_and_fpr(items, fpr); !checked)
    return fail(std::move(checked).error());
  const std::uint64_t blocks = blocks_for(layout, items, fpr);
  if (blocks > max_blocks(layout)) {
    return fail(
        Errc::too_large,
        fmt::format("{} items at a false positive rate of {} need more blocks than {} can address; "
                    "use {} or fewer items",
                    format_count(items), fpr, name(layout), name(BlockLayout::split_line)));
  }
  return FilterPlan(items, fpr, layout, blocks);
}

}  // namespace guestlist
