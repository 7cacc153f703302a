#include "guestlist/filter/classic_sizing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

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
