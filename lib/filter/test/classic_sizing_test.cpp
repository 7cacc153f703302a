#include "guestlist/filter/classic_sizing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

#include "guestlist/filter/classic_bloom_filter.hpp"
#include "random_hashes.hpp"

namespace guestlist {
namespace {

// m and k of the textbook: n = 1,000,000 at 1 % takes 9.585 bits a key with k = 7.
TEST(ClassicSizing, GivesTheNumbersOfTheTextbook) {
  EXPECT_EQ(classic_size(1'000'000, 0.01).probes, 7U);
  EXPECT_NEAR(static_cast<double>(classic_size(1'000'000, 0.01).bits) / 1e6, 9.593, 0.001);
  EXPECT_EQ(classic_size(1'000'000, 0.001).probes, 10U);
  EXPECT_NEAR(static_cast<double>(classic_size(1'000'000, 0.001).bits) / 1e6, 14.378, 0.001);
}

TEST(ClassicSizing, NoOtherNumberOfProbesNeedsFewerBits) {
  for (const double fpr : {0.5, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5, 1e-9}) {
    const ClassicSize size = classic_size(1'000'000, fpr);
    for (std::uint32_t probes = 1; probes <= 40; ++probes) {
      EXPECT_GE(classic_fpr({size.bits - 1, probes}, 1'000'000) * (1 + 1e-9), fpr)
          << probes << " probes would do with less than " << size.probes << " at " << fpr;
    }
  }
}

/// The mean of (share of set bits)^k over all ways to throw k n balls into m bins.
double exact_fpr(const ClassicSize& size, std::uint64_t items) {
  const auto m = static_cast<double>(size.bits);
  std::vector<double> with_set(size.bits + 1);
  with_set[0] = 1;
  for (std::uint64_t thrown = 0; thrown < items * size.probes; ++thrown) {
    for (std::uint64_t set = size.bits; set > 0; --set) {
      const auto count = static_cast<double>(set);
      with_set[set] = with_set[set] * count / m + with_set[set - 1] * (m - count + 1) / m;
    }
    with_set[0] = 0;
  }
  double fpr = 0;
  for (std::uint64_t set = 0; set <= size.bits; ++set)
    fpr += with_set[set] * std::pow(static_cast<double>(set) / m, size.probes);
  return fpr;
}

TEST(ClassicSizing, IsNeverBelowTheExactRateAndCloseToItFromTenKeysOn) {
  for (const std::uint64_t items : {1U, 2U, 3U, 5U, 10U, 30U, 100U}) {
    for (const double fpr : {0.3, 0.1, 0.01, 0.001}) {
      const ClassicSize size = classic_size(items, fpr);
      const double exact = exact_fpr(size, items);
      EXPECT_LE(exact, fpr * (1 + 1e-9)) << items << " at " << fpr;
      EXPECT_LE(exact, classic_fpr(size, items) * (1 + 1e-9)) << items << " at " << fpr;
      if (items >= 10) {
        EXPECT_NEAR(classic_fpr(size, items) / exact, 1, 0.003) << items << " at " << fpr;
      }
    }
  }
}

// Over many filters, as they are filled and asked: 5 standard deviations of the binomial
// distribution, and as much again because filters differ. Seeds 31 and 32.
TEST(ClassicSizing, MakesSmallFiltersKeepTheRateAsked) {
  constexpr std::uint64_t filters = 10'000;
  constexpr std::uint64_t probes = 100;
  const KeyHasher hasher = KeyHasher::xxh64();
  for (const std::uint64_t items : {1U, 3U, 10U, 30U}) {
    const auto keys = random_hashes(filters * items, 31);
    const auto others = random_hashes(filters * probes, 32);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < filters; ++i) {
      auto filter = ClassicBloomFilter::make(items, 0.01, hasher).value();
      for (std::uint64_t n = 0; n < items; ++n) filter.insert(keys[i * items + n]);
      for (std::uint64_t n = 0; n < probes; ++n)
        found += filter.may_contain(others[i * probes + n]);
    }
    const double expected = 0.01 * filters * probes;
    EXPECT_LE(static_cast<double>(found), expected + 10 * std::sqrt(expected)) << items << " keys";
  }
}

TEST(ClassicSizing, Inverts) {
  EXPECT_TRUE(rc::check("size, rate and capacity invert each other", [] {
    const auto items = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40);
    const double fpr = std::pow(10, -*rc::gen::inRange(4, 90) / 10.0);
    const ClassicSize size = classic_size(items, fpr);
    RC_ASSERT(classic_fpr(size, items) <= fpr * (1 + 1e-9));
    const std::uint64_t capacity = classic_capacity(size, fpr);
    RC_ASSERT(capacity + 1 >= items);
    // No more than the bit that was rounded up can hold, or the arithmetic of doubles can tell.
    RC_ASSERT(static_cast<double>(capacity) <= static_cast<double>(items) * (1 + 1e-9) + 1);
    RC_ASSERT(classic_fpr(size, capacity) <= fpr);
    RC_ASSERT(classic_fpr(size, capacity + 1) > fpr);
  }));
}

TEST(ClassicSizing, CountsWhatWasInsertedFromTheBitsThatAreExpected) {
  const ClassicSize size = classic_size(1'000'000, 0.01);
  const auto bits = static_cast<double>(size.bits);
  for (const double items : {0.0, 1000.0, 500'000.0, 1'000'000.0, 3'000'000.0}) {
    const double set = bits * -std::expm1(-items * size.probes / bits);
    EXPECT_NEAR(static_cast<double>(classic_count(size, static_cast<std::uint64_t>(set))), items,
                1 + items / 1000);
  }
}

TEST(ClassicSizing, GivesAFiniteCountForAFullArray) {
  const ClassicSize size{1000, 7};
  EXPECT_GT(classic_count(size, 1000), classic_count(size, 999));
  EXPECT_LT(classic_count(size, 1000), 10'000U);
}

}  // namespace
}  // namespace guestlist
