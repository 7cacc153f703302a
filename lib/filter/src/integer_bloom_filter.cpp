#include "guestlist/filter/integer_bloom_filter.hpp"

#include <fmt/format.h>

#include <utility>

namespace guestlist {

template <class Layout>
Result<BasicIntegerBloomFilter<Layout>> BasicIntegerBloomFilter<Layout>::make(
    const FilterPlan& plan, const IntegerHasher& hasher) {
  if constexpr (!std::is_same_v<Layout, PlannedLayout>) {
    if (plan.layout() != Layout::layout) {
      return fail(Errc::mismatched, fmt::format("the plan is for {} and the filter's type for {}; "
                                                "name the layout when planning",
                                                name(plan.layout()), name(Layout::layout)));
    }
  }
  auto bits = BlockArray::make(plan.layout(), plan.block_count());
  if (!bits) return fail(std::move(bits).error());
  return BasicIntegerBloomFilter(*std::move(bits), hasher);
}

template <class Layout>
Result<void> BasicIntegerBloomFilter<Layout>::merge(const BasicIntegerBloomFilter& other) {
  if (layout() != other.layout() || bits_.block_count() != other.bits_.block_count() ||
      hasher_ != other.hasher_) {
    return fail(Errc::mismatched,
                "integer filters of different layout, size or seed cannot be merged; build "
                "both from one plan and one seed");
  }
  bits_.merge(other.bits_);
  return {};
}

template class BasicIntegerBloomFilter<PlannedLayout>;
template class BasicIntegerBloomFilter<SplitLine>;
template class BasicIntegerBloomFilter<SplitLine16>;
template class BasicIntegerBloomFilter<SplitBlock>;

}  // namespace guestlist
