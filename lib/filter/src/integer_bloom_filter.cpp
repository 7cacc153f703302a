#include "guestlist/filter/integer_bloom_filter.hpp"

#include <utility>

namespace guestlist {

Result<IntegerBloomFilter> IntegerBloomFilter::make(const FilterPlan& plan,
                                                    const IntegerHasher& hasher) {
  auto bits = BlockArray::make(plan.layout(), plan.block_count());
  if (!bits) return fail(std::move(bits).error());
  return IntegerBloomFilter(*std::move(bits), hasher);
}

Result<void> IntegerBloomFilter::merge(const IntegerBloomFilter& other) {
  if (layout() != other.layout() || bits_.block_count() != other.bits_.block_count() ||
      hasher_ != other.hasher_) {
    return fail(Errc::mismatched,
                "integer filters of different layout, size or seed cannot be merged; build "
                "both from one plan and one seed");
  }
  bits_.merge(other.bits_);
  return {};
}

}  // namespace guestlist
