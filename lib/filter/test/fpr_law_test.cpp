// The rates that filters reach, against those that were asked for. Each test states n, p and its
// seed, and allows 5 standard deviations of the binomial distribution: one false alarm in 3.5
// million runs of a new seed, none with these.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>

#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/filter/integer_bloom_filter.hpp"
#include "random_hashes.hpp"

namespace guestlist {
namespace {

constexpr std::size_t batch = 1 << 16;

double bound(double n, double p) {
  return n * p + 5 * std::sqrt(n * p * (1 - p));
}

template <class Filter, class Keys>
std::size_t count_found(const Filter& filter, const Keys& all) {
  std::span keys(all);
  const auto found = std::make_unique<bool[]>(batch);
  std::size_t count = 0;
  while (!keys.empty()) {
    const std::size_t size = std::min(batch, keys.size());
    filter.may_contain_many(keys.first(size), std::span(found.get(), size));
    count += static_cast<std::size_t>(std::count(found.get(), found.get() + size, true));
    keys = keys.subspan(size);
  }
  return count;
}

// n = 10,000,000 absent keys a row.
TEST(FprLaw, BloomFiltersDenyNoneOfAMillionKeysAndFindNoMoreOthersThanAsked) {
  constexpr std::size_t items = 1'000'000;
  constexpr std::size_t probes = 10'000'000;
  const auto keys = random_hashes(items, 11);
  const auto others = random_hashes(probes, 12);
  for (const BlockLayout layout :
       {BlockLayout::split_line, BlockLayout::split_line_16, BlockLayout::split_block}) {
    for (const double fpr : {0.01, 0.001, 0.0001}) {
      auto filter =
          BloomFilter::make(*FilterPlan::make(items, fpr, layout), KeyHasher::xxh3(Secret()))
              .value();
      filter.insert_many(keys);
      EXPECT_EQ(count_found(filter, keys), items) << name(layout);
      EXPECT_LE(static_cast<double>(count_found(filter, others)), bound(probes, fpr))
          << name(layout) << " at " << fpr << ", " << probes << " probes, seeds 11 and 12";
    }
  }
}

struct Family {
  const char* name;
  std::uint64_t (*key)(std::uint64_t index);
};

constexpr Family families[] = {
    {"sequential", [](std::uint64_t i) { return i; }},
    {"times 8", [](std::uint64_t i) { return i * 8; }},
    {"times 4096", [](std::uint64_t i) { return i * 4096; }},
    {"shifted by 40", [](std::uint64_t i) { return i << 40; }},
    {"48-bit pointers", [](std::uint64_t i) { return 0x7F0000000000 + i * 48; }},
    {"times 2^32 + 1", [](std::uint64_t i) { return i * ((std::uint64_t{1} << 32) + 1); }},
    {"random", [](std::uint64_t i) { return IntegerHasher{0x5EED}(i).value * 0xD1342543DE82EF95; }},
    {"high bytes first", [](std::uint64_t i) { return __builtin_bswap64(i); }},
    {"two columns", [](std::uint64_t i) { return (i / 1000) << 32 | i % 1000; }},
    {"shifted by 20", [](std::uint64_t i) { return i << 20; }},
    {"shifted by 32", [](std::uint64_t i) { return i << 32; }},
    {"doubles", [](std::uint64_t i) { return std::bit_cast<std::uint64_t>(double(i)); }},
    {"inverse of the first multiplier", [](std::uint64_t i) { return i * 0xF1DE83E19937733D; }},
};

// n = 4,000,000 absent keys a family and layout, p = 0.1 %, 5 % for the hash on top, seeds 0 and
// 0x600D.
TEST(FprLaw, StructuredIntegersAreFoundNoMoreOftenThanAsked) {
  constexpr std::size_t items = 1'000'000;
  constexpr std::size_t probes = 4'000'000;
  constexpr double fpr = 0.001;
  for (const Family& family : families) {
    std::vector<std::uint64_t> keys(items + probes);
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = family.key(i);
    const auto inserted = std::span<const std::uint64_t>(keys).first(items);
    const auto others = std::span<const std::uint64_t>(keys).subspan(items);
    for (const BlockLayout layout :
         {BlockLayout::split_line, BlockLayout::split_line_16, BlockLayout::split_block}) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0xFEDC1234567890AB}}) {
        auto filter =
            IntegerBloomFilter::make(*FilterPlan::make(items, fpr, layout), IntegerHasher{seed})
                .value();
        filter.insert_many(inserted);
        EXPECT_EQ(count_found(filter, inserted), items) << family.name;
        EXPECT_LE(static_cast<double>(count_found(filter, others)), bound(probes, fpr * 1.05))
            << family.name << ", " << name(layout) << ", seed " << seed;
      }
    }
  }
}

TEST(IntegerBloomFilter, AnswersBatchesAsSingleKeys) {
  auto filter = IntegerBloomFilter::make(*FilterPlan::make(1003, 0.01), IntegerHasher{7}).value();
  std::vector<std::uint64_t> keys(1003);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i * i;
  auto singly = filter;
  std::uint64_t changed = 0;
  for (const std::uint64_t key : keys) changed += singly.insert(key) ? 1 : 0;
  EXPECT_EQ(filter.insert_many(keys), changed);
  EXPECT_EQ(filter.fill(), singly.fill());
  for (std::uint64_t& key : keys) key = ~key;
  const auto found = std::make_unique<bool[]>(keys.size());
  filter.may_contain_many(keys, std::span(found.get(), keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(found[i], singly.may_contain(keys[i])) << keys[i];
}

template <class Layout>
void expect_the_answers_of_a_planned_one() {
  const auto plan = FilterPlan::make(1000, 0.01, Layout::layout).value();
  auto planned = IntegerBloomFilter::make(plan, IntegerHasher{7}).value();
  auto fixed = FixedIntegerBloomFilter<Layout>::make(plan, IntegerHasher{7}).value();
  for (std::uint64_t key = 0; key < 1000; ++key)
    ASSERT_EQ(fixed.insert(key), planned.insert(key)) << name(Layout::layout) << ", " << key;
  EXPECT_EQ(fixed.fill(), planned.fill());
  for (std::uint64_t key = 0; key < 100'000; ++key)
    ASSERT_EQ(fixed.may_contain(key), planned.may_contain(key))
        << name(Layout::layout) << ", " << key;
}

TEST(IntegerBloomFilter, AnswersAlikeWithTheLayoutInItsType) {
  expect_the_answers_of_a_planned_one<SplitLine>();
  expect_the_answers_of_a_planned_one<SplitLine16>();
  expect_the_answers_of_a_planned_one<SplitBlock>();
}

TEST(IntegerBloomFilter, RefusesAPlanForAnotherLayoutThanItsType) {
  const auto plan = FilterPlan::make(1000, 0.01, BlockLayout::split_line).value();
  const auto filter = FixedIntegerBloomFilter<SplitBlock>::make(plan, IntegerHasher{7});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Errc::mismatched);
}

TEST(IntegerBloomFilter, MergesOnlyWithItsOwnKind) {
  auto filter = IntegerBloomFilter::make(*FilterPlan::make(1000, 0.01), IntegerHasher{7}).value();
  auto same = filter;
  same.insert(42);
  ASSERT_TRUE(filter.merge(same));
  EXPECT_TRUE(filter.may_contain(42));
  const auto other =
      IntegerBloomFilter::make(*FilterPlan::make(1000, 0.01), IntegerHasher{8}).value();
  EXPECT_EQ(filter.merge(other).error().code, Errc::mismatched);
}

}  // namespace
}  // namespace guestlist
