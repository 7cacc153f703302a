// Filters whose bits pass 2^31, 2^32 and 2^33: where a 32-bit bit number, a signed one, or a byte
// offset would wrap. Such a bug folds the filter onto a part of itself, so the measured rate shows
// it; keys that are denied show any other. Minutes and up to 1.1 GB of memory: ctest label `large`,
// `make test-large`.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "guestlist/filter/block_sizing.hpp"
#include "guestlist/filter/bloom_filter.hpp"

namespace guestlist {
namespace {

constexpr std::size_t batch = 1 << 16;

/// Hash `index` of a stream of distinct ones, as a strong hash would give it.
KeyHash stream_hash(std::uint64_t index) {
  index = (index ^ (index >> 30)) * 0xBF58476D1CE4E5B9;
  index = (index ^ (index >> 27)) * 0x94D049BB133111EB;
  return {index ^ (index >> 31)};
}

template <class Visit>
void for_each_batch(std::uint64_t first, std::uint64_t last, Visit visit) {
  std::vector<KeyHash> hashes;
  while (first < last) {
    hashes.clear();
    for (; hashes.size() < batch && first < last; ++first) hashes.push_back(stream_hash(first));
    visit(std::span<const KeyHash>(hashes));
  }
}

std::uint64_t count_found(const BloomFilter& filter, std::uint64_t first, std::uint64_t last) {
  const auto found = std::make_unique<bool[]>(batch);
  std::uint64_t count = 0;
  for_each_batch(first, last, [&](std::span<const KeyHash> hashes) {
    filter.may_contain_many(hashes, std::span(found.get(), hashes.size()));
    count += static_cast<std::uint64_t>(std::count(found.get(), found.get() + hashes.size(), true));
  });
  return count;
}

class LargeFilter : public testing::TestWithParam<std::tuple<BlockLayout, int>> {};

// n = 10,000,000 absent keys, z = 5; the stream of hashes has no seed.
TEST_P(LargeFilter, DeniesNoKeyAndFindsNoMoreOthersThanAsked) {
  const auto [layout, exponent] = GetParam();
  constexpr double fpr = 0.01;
  constexpr std::uint64_t probes = 10'000'000;
  // A little more than 2^exponent bits, so that the last blocks lie beyond.
  const std::uint64_t bits = (std::uint64_t{1} << exponent) + (std::uint64_t{1} << (exponent - 5));
  const std::uint64_t items = capacity_for(layout, bits / 8 / block_bytes(layout), fpr);
  auto filter =
      BloomFilter::make(FilterPlan::make(items, fpr, layout).value(), KeyHasher::xxh3(Secret()))
          .value();
  ASSERT_GT(filter.size_bytes() * 8, std::uint64_t{1} << exponent);
  for_each_batch(0, items, [&](std::span<const KeyHash> hashes) { filter.insert_many(hashes); });
  EXPECT_EQ(count_found(filter, 0, items), items);
  const auto found = static_cast<double>(count_found(filter, items, items + probes));
  EXPECT_LE(found, probes * fpr + 5 * std::sqrt(probes * fpr * (1 - fpr)));
  EXPECT_NEAR(filter.fpr_now(), fpr, 0.001 * fpr);
  EXPECT_NEAR(static_cast<double>(filter.approximate_count()), static_cast<double>(items),
              0.001 * static_cast<double>(items));
}

INSTANTIATE_TEST_SUITE_P(Bits, LargeFilter,
                         testing::Combine(testing::Values(BlockLayout::split_line,
                                                          BlockLayout::split_block),
                                          testing::Values(31, 32, 33)),
                         [](const auto& instance) {
                           const bool is_line =
                               std::get<0>(instance.param) == BlockLayout::split_line;
                           return std::string(is_line ? "SplitLine" : "SplitBlock") + "Past2To" +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace guestlist
