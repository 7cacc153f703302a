#pragma once

// One filter of each structure, filled with the keys 0, 1, 2, …, for tests that hold for all of
// them.

#include <cstdint>
#include <string>
#include <vector>

#include "guestlist/filter/any_filter.hpp"

namespace guestlist {

inline constexpr Structure all_structures[] = {Structure::bloom, Structure::classic_bloom,
                                               Structure::counting_bloom, Structure::scalable_bloom,
                                               Structure::cuckoo};

inline std::string sample_key(std::uint64_t number) {
  return "key " + std::to_string(number);
}

/// For an fpr of 1 %. Requires: a structure and a size that can be built.
inline AnyFilter empty_filter(Structure structure, std::uint64_t items, const KeyHasher& hasher) {
  switch (structure) {
    case Structure::bloom:
      break;
    case Structure::classic_bloom:
      return ClassicBloomFilter::make(items, 0.01, hasher).value();
    case Structure::counting_bloom:
      return CountingBloomFilter::make(items, 0.01, hasher).value();
    case Structure::scalable_bloom:
      return ScalableBloomFilter::make(items, 0.01, hasher).value();
    case Structure::cuckoo:
      return CuckooFilter::make(items, 0.01, hasher).value();
  }
  return BloomFilter::make(FilterPlan::make(items, 0.01).value(), hasher).value();
}

/// With the keys from 0 to `items`.
inline AnyFilter sample_filter(Structure structure, std::uint64_t items,
                               const KeyHasher& hasher = KeyHasher::siphash(Secret())) {
  AnyFilter filter = empty_filter(structure, items, hasher);
  for (std::uint64_t i = 0; i < items; ++i) (void)filter.insert(sample_key(i)).value();
  return filter;
}

/// Over several sections of a file, with the keys from 0 to 20,000.
inline AnyFilter large_filter(Structure structure) {
  AnyFilter filter = empty_filter(structure, 3'000'000, KeyHasher::siphash(Secret()));
  for (std::uint64_t i = 0; i < 20'000; ++i) (void)filter.insert(sample_key(i)).value();
  return filter;
}

inline std::vector<KeyHash> sample_hashes(std::uint64_t first, std::uint64_t last,
                                          const KeyHasher& hasher) {
  std::vector<KeyHash> hashes;
  for (std::uint64_t i = first; i < last; ++i) hashes.push_back(hasher(sample_key(i)));
  return hashes;
}

}  // namespace guestlist
