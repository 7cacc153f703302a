#include "guestlist/filter/counting_bloom_filter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "random_hashes.hpp"

namespace guestlist {
namespace {

CountingBloomFilter make_filter(std::uint64_t items, double fpr = 0.01) {
  return CountingBloomFilter::make(items, fpr, KeyHasher::xxh3(Secret())).value();
}

TEST(CountingBloomFilter, ForgetsAKeyThatWasRemoved) {
  CountingBloomFilter filter = make_filter(1000, 1e-6);
  EXPECT_TRUE(filter.insert("amber"));
  EXPECT_TRUE(filter.remove("amber"));
  EXPECT_FALSE(filter.may_contain("amber"));
  EXPECT_EQ(filter.fill(), 0);
  EXPECT_EQ(filter.shape().layers[0].items, 0U);
}

TEST(CountingBloomFilter, CountsHowOftenAKeyWasInserted) {
  CountingBloomFilter filter = make_filter(1000, 1e-6);
  for (unsigned times = 1; times <= 20; ++times) {
    filter.insert("amber");
    EXPECT_EQ(filter.count("amber"), std::min(times, CountingBloomFilter::saturated));
  }
}

// 300 inserts take the counters to their end, and 300 removals must not take them back: nobody
// knows how many keys a saturated counter stands for.
TEST(CountingBloomFilter, KeepsTheNeighboursOfAKeyThatSaturatedItsCounters) {
  const auto neighbours = random_hashes(1000, 51);
  CountingBloomFilter filter = make_filter(1000);
  for (const KeyHash hash : neighbours) filter.insert(hash);
  for (int i = 0; i < 300; ++i) filter.insert("amber");
  for (int i = 0; i < 300; ++i) filter.remove("amber");
  for (const KeyHash hash : neighbours) EXPECT_TRUE(filter.may_contain(hash)) << hash.value;
  EXPECT_TRUE(filter.may_contain("amber"));
  EXPECT_EQ(filter.count("amber"), CountingBloomFilter::saturated);
}

TEST(CountingBloomFilter, RefusesToRemoveAKeyThatIsCertainlyNotThere) {
  CountingBloomFilter filter = make_filter(1000);
  for (const KeyHash hash : random_hashes(1000, 52)) filter.insert(hash);
  const CountingBloomFilter before = filter;
  std::size_t refused = 0;
  for (const KeyHash hash : random_hashes(1000, 53)) {
    if (filter.may_contain(hash)) continue;
    EXPECT_FALSE(filter.remove(hash));
    ++refused;
  }
  EXPECT_GT(refused, 900U);
  EXPECT_EQ(as_text(filter.layer_bytes()[0]), as_text(before.layer_bytes()[0]));
}

TEST(CountingBloomFilter, AddsCountsWhenItMerges) {
  CountingBloomFilter one = make_filter(1000, 1e-6);
  CountingBloomFilter other = one;
  for (int i = 0; i < 3; ++i) one.insert("amber");
  for (int i = 0; i < 4; ++i) other.insert("amber");
  for (int i = 0; i < 14; ++i) {
    one.insert("basalt");
    other.insert("basalt");
  }
  ASSERT_TRUE(one.merge(other));
  EXPECT_EQ(one.count("amber"), 7U);
  EXPECT_EQ(one.count("basalt"), CountingBloomFilter::saturated);
}

TEST(CountingBloomFilter, TakesFourTimesTheBitsOfAClassicFilter) {
  const std::uint64_t counters = classic_size(1'000'000, 0.01).bits;
  EXPECT_NEAR(static_cast<double>(make_filter(1'000'000).size_bytes()),
              static_cast<double>(counters) / 2, 64);
}

}  // namespace
}  // namespace guestlist
