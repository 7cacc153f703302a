#include "guestlist/filter/block_sizing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

constexpr BlockLayout layouts[] = {BlockLayout::split_line, BlockLayout::split_line_16,
                                   BlockLayout::split_block};

TEST(BlockSizing, NeedsTheBitsThatExactSumsWerePublishedToNeed) {
  struct Row {
    BlockLayout layout;
    double fpr;
    double bits_per_key;
  };
  for (const Row& row : {Row{BlockLayout::split_line, 0.01, 10.10},
                         {BlockLayout::split_line, 0.001, 15.72},
                         {BlockLayout::split_line, 0.0001, 23.61},
                         {BlockLayout::split_line, 0.1, 5.88},
                         {BlockLayout::split_line, 0.0002, 20.93},
                         {BlockLayout::split_block, 0.01, 10.53},
                         {BlockLayout::split_block, 0.001, 16.89},
                         {BlockLayout::split_block, 0.0001, 26.34}}) {
    EXPECT_NEAR(bits_per_key_for(row.layout, row.fpr), row.bits_per_key, 0.01)
        << name(row.layout) << " at " << row.fpr;
  }
}

TEST(BlockSizing, AsksForNoMoreBitsThanTheRateNeeds) {
  for (const BlockLayout layout : layouts) {
    for (const double fpr : {0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9}) {
      const double bits = bits_per_key_for(layout, fpr);
      const double block = static_cast<double>(block_bytes(layout) * 8);
      EXPECT_LE(fpr_at_load(layout, block / bits), fpr) << name(layout) << " at " << fpr;
      EXPECT_NEAR(fpr_at_load(layout, block / bits) / fpr, 1, 1e-6)
          << name(layout) << " at " << fpr;
    }
  }
}

TEST(BlockSizing, BlocksAndCapacityInvertEachOther) {
  rc::check([] {
    const BlockLayout layout = *rc::gen::element(
        BlockLayout::split_line, BlockLayout::split_line_16, BlockLayout::split_block);
    const auto items = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40);
    const double fpr = std::pow(10.0, -*rc::gen::inRange(1, 90) / 10.0);
    const std::uint64_t blocks = blocks_for(layout, items, fpr);
    RC_ASSERT(capacity_for(layout, blocks, fpr) >= items);
    RC_ASSERT(blocks_for(layout, capacity_for(layout, blocks, fpr), fpr) <= blocks);
    RC_ASSERT(fpr_of(layout, items, blocks) <= fpr * (1 + 1e-9));
    const bool is_least = blocks == 1 || fpr_of(layout, items, blocks - 1) > fpr * (1 - 1e-6);
    RC_ASSERT(is_least);
  });
}

TEST(BlockSizing, RatesRiseWithEveryKey) {
  for (const BlockLayout layout : layouts) {
    double last = 0;
    for (double keys = 1; keys < 1000; keys *= 1.1) {
      const double rate = fpr_at_load(layout, keys);
      EXPECT_GT(rate, last) << name(layout) << " at " << keys;
      last = rate;
    }
    EXPECT_GT(last, 0.99);
  }
}

TEST(FilterPlan, TakesAtMostTenPointTwoBitsForOneInAHundred) {
  const auto plan = FilterPlan::make(1'000'000, 0.01);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->layout(), BlockLayout::split_line);
  EXPECT_LE(plan->bits_per_key(), 10.2);
}

TEST(FilterPlan, SetsTwoBitsALaneWhereThatIsSmaller) {
  EXPECT_EQ(FilterPlan::make(1'000'000, 3e-4)->layout(), BlockLayout::split_line);
  EXPECT_EQ(FilterPlan::make(1'000'000, 1e-4)->layout(), BlockLayout::split_line_16);
  EXPECT_LE(FilterPlan::make(1'000'000, 1e-4)->bits_per_key(), 23.0);
}

TEST(FilterPlan, RefusesWhatNoFilterCanBe) {
  for (const double fpr : {0.0, 1.0, -1.0, std::nan(""), 0.51, 1e-10}) {
    const auto plan = FilterPlan::make(1000, fpr);
    ASSERT_FALSE(plan) << fpr;
    EXPECT_EQ(plan.error().code, Errc::invalid_argument) << fpr;
  }
  EXPECT_EQ(FilterPlan::make(0, 0.01).error().code, Errc::invalid_argument);
  EXPECT_EQ(FilterPlan::make(1'000'000'000'000'000'000, 0.01).error().code, Errc::too_large);
  EXPECT_EQ(FilterPlan::make(FilterPlan::max_items, 0.01, BlockLayout::split_block).error().code,
            Errc::too_large);
}

TEST(FilterPlan, AcceptsItsOwnLimits) {
  EXPECT_TRUE(FilterPlan::make(FilterPlan::max_items, FilterPlan::min_fpr));
  EXPECT_TRUE(FilterPlan::make(1, FilterPlan::max_fpr));
}

}  // namespace
}  // namespace guestlist
