#include "guestlist/filter/structure_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "guestlist/filter/any_filter.hpp"

namespace guestlist {
namespace {

constexpr FilterNeeds no_needs;
constexpr FilterNeeds deletes{.deletes = true};
constexpr FilterNeeds growth{.growth = true};
constexpr FilterNeeds counts{.counts = true};

Structure choice(std::uint64_t items, double fpr, const FilterNeeds& needs) {
  return plan_structures(items, fpr, needs).value().chosen().structure;
}

AnyFilter build(const StructureCandidate& candidate, std::uint64_t items, double fpr) {
  const KeyHasher hasher = KeyHasher::xxh3(Secret());
  switch (candidate.structure) {
    case Structure::bloom:
      break;
    case Structure::classic_bloom:
      return ClassicBloomFilter::make(items, fpr, hasher).value();
    case Structure::counting_bloom:
      return CountingBloomFilter::make(items, fpr, hasher).value();
    case Structure::scalable_bloom:
      return ScalableBloomFilter::make(items, fpr, hasher).value();
    case Structure::cuckoo:
      return CuckooFilter::make(items, fpr, hasher).value();
  }
  return BloomFilter::make(FilterPlan::make(items, fpr).value(), hasher).value();
}

TEST(StructurePlan, TakesTheNativeFilterWhereNothingElseIsNeeded) {
  for (const double fpr : {0.5, 0.01, 1e-5, 1e-9})
    EXPECT_EQ(choice(1'000'000, fpr, no_needs), Structure::bloom) << fpr;
}

TEST(StructurePlan, TakesWhatCanDoWhatIsNeeded) {
  EXPECT_EQ(choice(1'000'000, 0.01, deletes), Structure::cuckoo);
  EXPECT_EQ(choice(1'000'000, 0.01, growth), Structure::scalable_bloom);
  EXPECT_EQ(choice(1'000'000, 0.01, counts), Structure::counting_bloom);
  EXPECT_EQ(choice(1'000'000, 0.01, {.deletes = true, .counts = true}), Structure::counting_bloom);
}

TEST(StructurePlan, TakesCountersWhereACuckooFilterIsLargerOrNotExactEnough) {
  EXPECT_EQ(choice(1'000'000, 0.4, deletes), Structure::counting_bloom);
  EXPECT_EQ(choice(1'000'000, 1e-4, deletes), Structure::counting_bloom);
}

TEST(StructurePlan, TellsTheSizesOfTheFiltersThatWouldBeBuilt) {
  for (const std::uint64_t items : {1, 1000, 123'457}) {
    for (const double fpr : {0.1, 0.01, 0.001, 1e-5}) {
      const StructurePlan plan = plan_structures(items, fpr, no_needs).value();
      for (const StructureCandidate& candidate : plan.candidates) {
        EXPECT_EQ(candidate.size_bytes, build(candidate, items, fpr).size_bytes())
            << name(candidate.structure) << ", " << items << " items at " << fpr;
        EXPECT_DOUBLE_EQ(candidate.bits_per_key * static_cast<double>(items),
                         8.0 * static_cast<double>(candidate.size_bytes));
        EXPECT_LE(candidate.fpr, fpr * (1 + 1e-9)) << name(candidate.structure);
      }
    }
  }
}

TEST(StructurePlan, ExpectsOneCacheMissOfTheNativeFilterAndAboutTwoOfTheClassicOne) {
  const StructurePlan plan = plan_structures(1'000'000, 0.01, no_needs).value();
  ASSERT_EQ(plan.candidates.size(), 5U);
  EXPECT_EQ(plan.candidates[0].cache_misses, 1);
  EXPECT_EQ(plan.candidates[1].structure, Structure::classic_bloom);
  EXPECT_NEAR(plan.candidates[1].cache_misses, 2, 0.1);
}

TEST(StructurePlan, RefusesWhatNoStructureCanDo) {
  for (const FilterNeeds& needs : {FilterNeeds{.deletes = true, .growth = true},
                                   FilterNeeds{.growth = true, .counts = true}}) {
    const auto plan = plan_structures(1000, 0.01, needs);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Errc::invalid_argument);
    EXPECT_NE(plan.error().message().find("grows"), std::string::npos);
  }
  EXPECT_EQ(plan_structures(1000, 1e-8, growth).error().code, Errc::invalid_argument);
}

TEST(StructurePlan, RefusesImpossibleItemsAndRates) {
  EXPECT_EQ(plan_structures(0, 0.01, no_needs).error().code, Errc::invalid_argument);
  EXPECT_EQ(plan_structures(1'000'000'000'000'000'000, 0.01, no_needs).error().code,
            Errc::too_large);
  for (const double fpr : {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(plan_structures(1000, fpr, no_needs).error().code, Errc::invalid_argument) << fpr;
}

TEST(StructurePlan, GivesItsReasonInOneLine) {
  for (const FilterNeeds& needs : {no_needs, deletes, growth, counts}) {
    const std::string reason = plan_structures(1'000'000, 0.01, needs).value().reason;
    EXPECT_FALSE(reason.empty());
    EXPECT_EQ(reason.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace guestlist
