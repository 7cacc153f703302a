#include "guestlist/filter/scalable_bloom_filter.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "filter_laws.hpp"
#include "random_hashes.hpp"

namespace guestlist {
namespace {

ScalableBloomFilter make_filter(std::uint64_t items, double fpr = 0.01,
                                const KeyHasher& hasher = KeyHasher::xxh3(Secret())) {
  return ScalableBloomFilter::make(items, fpr, hasher).value();
}

TEST(ScalableBloomFilter, DoublesEachLayerAndTightensItsRate) {
  ScalableBloomFilter filter = make_filter(1000);
  for (const KeyHash hash : random_hashes(100'000, 71)) ASSERT_TRUE(filter.insert(hash));
  const FilterShape shape = filter.shape();
  ASSERT_EQ(shape.layers.size(), 7U);
  double sum = 0;
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    sum += shape.layers[i].fpr;
    EXPECT_LE(shape.layers[i].items, shape.layers[i].capacity);
    if (i == 0) continue;
    EXPECT_GE(shape.layers[i].capacity, 2 * shape.layers[i - 1].capacity);
    EXPECT_DOUBLE_EQ(shape.layers[i].fpr, 0.8 * shape.layers[i - 1].fpr);
  }
  EXPECT_LT(sum, shape.fpr);
  EXPECT_GE(shape.capacity, 100'000U);
}

// Ten thousand times more keys than planned: n = 4,000,000 absent keys, z = 5, seeds 72 and 73.
TEST(ScalableBloomFilter, KeepsTheBoundOfAllLayersHoweverFarItGrows) {
  ScalableBloomFilter filter = make_filter(100);
  const auto hashes = random_hashes(1'000'000, 72);
  for (const KeyHash hash : hashes) ASSERT_TRUE(filter.insert(hash));
  EXPECT_EQ(laws::count_found(filter, hashes), hashes.size());
  const double n = 4'000'000;
  const auto found = static_cast<double>(laws::count_found(filter, random_hashes(4'000'000, 73)));
  EXPECT_LE(found, n * 0.01 + 5 * std::sqrt(n * 0.01 * 0.99));
}

TEST(ScalableBloomFilter, StaysSmallWhereTheNumberOfKeysWasRight) {
  ScalableBloomFilter filter = make_filter(100'000);
  for (const KeyHash hash : random_hashes(100'000, 74)) ASSERT_TRUE(filter.insert(hash));
  EXPECT_EQ(filter.layer_count(), 1U);
}

TEST(ScalableBloomFilter, AnswersManyAsOneByOne) {
  ScalableBloomFilter filter = make_filter(100);
  const auto hashes = random_hashes(10'007, 75);
  for (std::size_t i = 0; i < hashes.size(); i += 2) ASSERT_TRUE(filter.insert(hashes[i]));
  const auto found = std::make_unique<bool[]>(hashes.size());
  filter.may_contain_many(hashes, std::span(found.get(), hashes.size()));
  for (std::size_t i = 0; i < hashes.size(); ++i)
    ASSERT_EQ(found[i], filter.may_contain(hashes[i])) << i;
}

TEST(ScalableBloomFilter, GoesOnGrowingAfterItWasRestored) {
  ScalableBloomFilter filter = make_filter(100);
  const auto hashes = random_hashes(20'000, 76);
  for (const KeyHash hash : std::span(hashes).first(10'000)) ASSERT_TRUE(filter.insert(hash));
  auto restored = ScalableBloomFilter::restore(filter.shape(), filter.hasher(),
                                               laws::storage_of(laws::bits_of(filter)))
                      .value();
  for (const KeyHash hash : hashes) {
    ASSERT_TRUE(filter.insert(hash));
    ASSERT_TRUE(restored.insert(hash));
  }
  EXPECT_EQ(restored.shape(), filter.shape());
  EXPECT_EQ(laws::bits_of(restored), laws::bits_of(filter));
}

TEST(ScalableBloomFilter, MergesChainsOfAnyLengthAndKeepsTheBoundOfBoth) {
  ScalableBloomFilter one = make_filter(100, 0.001);
  ScalableBloomFilter other = make_filter(5000, 0.002);
  const auto hashes = random_hashes(40'000, 77);
  for (const KeyHash hash : std::span(hashes).first(15'000)) ASSERT_TRUE(one.insert(hash));
  for (const KeyHash hash : std::span(hashes).subspan(15'000)) ASSERT_TRUE(other.insert(hash));
  const double before = one.fpr_now();
  ASSERT_TRUE(one.merge(other));
  EXPECT_EQ(laws::count_found(one, hashes), hashes.size());
  EXPECT_NEAR(one.shape().fpr, 0.003, 0.00001);
  EXPECT_LE(one.fpr_now(), before + other.fpr_now());
  EXPECT_LE(one.fpr_now(), one.shape().fpr);
  for (const KeyHash hash : random_hashes(200'000, 78)) ASSERT_TRUE(one.insert(hash));
  EXPECT_LE(one.fpr_now(), one.shape().fpr);
}

TEST(ScalableBloomFilter, MergesHalfFullFiltersWithoutAnotherLayer) {
  ScalableBloomFilter one = make_filter(1000);
  ScalableBloomFilter other = one;
  const auto hashes = random_hashes(900, 79);
  for (const KeyHash hash : std::span(hashes).first(450)) ASSERT_TRUE(one.insert(hash));
  for (const KeyHash hash : std::span(hashes).subspan(450)) ASSERT_TRUE(other.insert(hash));
  ASSERT_TRUE(one.merge(other));
  EXPECT_EQ(one.layer_count(), 1U);
  EXPECT_EQ(one.shape().fpr, 0.01);
  EXPECT_EQ(laws::count_found(one, hashes), hashes.size());
}

TEST(ScalableBloomFilter, IsItsOwnUnionWithItself) {
  ScalableBloomFilter filter = make_filter(100);
  for (const KeyHash hash : random_hashes(1000, 80)) ASSERT_TRUE(filter.insert(hash));
  const ScalableBloomFilter before = filter;
  ASSERT_TRUE(filter.merge(filter));
  EXPECT_EQ(filter.shape(), before.shape());
}

TEST(ScalableBloomFilter, RefusesMoreLayersThanAFileHolds) {
  ScalableBloomFilter filter = make_filter(1);
  for (const KeyHash hash : random_hashes(100'000, 81)) ASSERT_TRUE(filter.insert(hash));
  Result<void> merged;
  for (std::uint64_t seed = 0; merged && seed < 64; ++seed) {
    ScalableBloomFilter other = make_filter(1);
    for (const KeyHash hash : random_hashes(100'000, 8200 + seed)) ASSERT_TRUE(other.insert(hash));
    const FilterShape before = filter.shape();
    merged = filter.merge(other);
    if (!merged) {
      EXPECT_EQ(filter.shape(), before);
    }
  }
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::full);
}

TEST(ScalableBloomFilter, RefusesARateThatItsLaterLayersCouldNotKeep) {
  const auto filter = ScalableBloomFilter::make(1000, 1e-7, KeyHasher::xxh64());
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace guestlist
