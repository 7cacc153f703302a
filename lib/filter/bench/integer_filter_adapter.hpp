#pragma once

// IntegerBloomFilter in the rows of filter_adapter.hpp, once a layout.

#include "filter_adapter.hpp"
#include "guestlist/filter/integer_bloom_filter.hpp"

namespace guestlist::bench {
namespace {

/// `layout` is what to plan for, `Layout` what the type says about it.
template <BlockLayout layout, class Layout = PlannedLayout>
class IntegerFilterAdapter {
 public:
  IntegerFilterAdapter(std::uint64_t items, double fpr)
      : filter_(BasicIntegerBloomFilter<Layout>::make(FilterPlan::make(items, fpr, layout).value(),
                                                      IntegerHasher{42})
                    .value()) {}

  void clear() { filter_.clear(); }
  void insert(std::uint64_t key) { filter_.insert(key); }
  void insert_many(std::span<const std::uint64_t> keys) { filter_.insert_many(keys); }
  bool may_contain(std::uint64_t key) const { return filter_.may_contain(key); }
  void may_contain_many(std::span<const std::uint64_t> keys, std::span<bool> found) const {
    filter_.may_contain_many(keys, found);
  }
  std::uint64_t size_bytes() const { return filter_.size_bytes(); }

 private:
  BasicIntegerBloomFilter<Layout> filter_;
};

}  // namespace
}  // namespace guestlist::bench
