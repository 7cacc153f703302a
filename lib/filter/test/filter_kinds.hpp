#pragma once

// The kinds of filters that the law suite goes through. A new structure joins by one line here and
// one in the list of filter_laws_test.cpp.

#include <algorithm>

#include "broken_filter.hpp"
#include "guestlist/filter/any_filter.hpp"

namespace guestlist {

template <BlockLayout layout>
struct BloomKind {
  using Filter = BloomFilter;
  static Filter make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
    return BloomFilter::make(FilterPlan::make(items, fpr, layout).value(), hasher).value();
  }
  static double rate(double fpr) { return fpr; }
};

template <class F>
struct KindOf {
  using Filter = F;
  static Filter make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
    return F::make(items, fpr, hasher).value();
  }
  static double rate(double fpr) { return fpr; }
};

/// Its rate follows from the width of its slots.
struct CuckooKind : KindOf<CuckooFilter> {
  static double rate(double fpr) { return std::min(fpr, CuckooFilter::full_fpr); }
};

/// Starts for a tenth of the keys, so that the laws see a chain that has grown.
struct ScalableKind : KindOf<ScalableBloomFilter> {
  static Filter make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
    return ScalableBloomFilter::make(std::max<std::uint64_t>(1, items / 10), fpr, hasher).value();
  }
};

struct AnyKind {
  using Filter = AnyFilter;
  static Filter make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
    return ClassicBloomFilter::make(items, fpr, hasher).value();
  }
  static double rate(double fpr) { return fpr; }
};

template <Fault fault>
using BrokenKind = KindOf<BrokenFilter<fault>>;

}  // namespace guestlist
