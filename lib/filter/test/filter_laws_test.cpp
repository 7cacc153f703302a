// Every filter through every law of filter_laws.hpp, and every law against a filter that breaks it.

#include "filter_laws.hpp"

#include <rapidcheck.h>

#include "filter_kinds.hpp"

namespace guestlist {
namespace {

using SplitLineKind = BloomKind<BlockLayout::split_line>;
using SplitLine16Kind = BloomKind<BlockLayout::split_line_16>;
using SplitBlockKind = BloomKind<BlockLayout::split_block>;
using ClassicKind = KindOf<ClassicBloomFilter>;
using CountingKind = KindOf<CountingBloomFilter>;

template <laws::Kind K>
class FilterLaws : public testing::Test {};

using AllKinds = testing::Types<SplitLineKind, SplitLine16Kind, SplitBlockKind, ClassicKind,
                                CountingKind, ScalableKind, CuckooKind, AnyKind>;
TYPED_TEST_SUITE(FilterLaws, AllKinds);

TYPED_TEST(FilterLaws, DeniesNoInsertedKey) {
  for (const std::uint64_t items : {1, 2, 10, 1000, 1'000'000})
    EXPECT_TRUE(laws::denies_no_inserted_key<TypeParam>(items)) << items << " items";
}

TYPED_TEST(FilterLaws, KeepsItsRateAndKnowsIt) {
  EXPECT_TRUE(laws::keeps_its_rate<TypeParam>(1'000'000, 10'000'000, 0.01));
  EXPECT_TRUE(laws::keeps_its_rate<TypeParam>(100'000, 5'000'000, 0.001));
}

TYPED_TEST(FilterLaws, InsertingTwiceIsInsertingOnce) {
  EXPECT_TRUE(laws::inserting_twice_is_inserting_once<TypeParam>(2000));
}

TYPED_TEST(FilterLaws, MergingKeepsTheKeysOfBoth) {
  EXPECT_TRUE(laws::merging_keeps_the_keys_of_both<TypeParam>(2000));
}

TYPED_TEST(FilterLaws, RefusesToMergeWithAnotherSecret) {
  const KeyHasher other = KeyHasher::siphash(Secret());
  EXPECT_TRUE(laws::is_refused_and_changes_nothing(TypeParam::make(1000, 0.01, laws::any_hasher()),
                                                   TypeParam::make(1000, 0.01, other)));
}

TYPED_TEST(FilterLaws, IsRestoredFromShapeAndBytes) {
  for (const std::uint64_t items : {1, 3000})
    EXPECT_TRUE(laws::is_restored_from_shape_and_bytes<TypeParam>(items));
}

TYPED_TEST(FilterLaws, CopiesAreIndependent) {
  EXPECT_TRUE(laws::copies_are_independent<TypeParam>(500));
}

TYPED_TEST(FilterLaws, ClearingEmpties) {
  EXPECT_TRUE(laws::clearing_empties<TypeParam>(500));
}

TYPED_TEST(FilterLaws, TellsItsSizeAndCount) {
  EXPECT_TRUE(laws::tells_its_size<TypeParam>(10'000));
}

TYPED_TEST(FilterLaws, ReadsOnlyWhatItSaysItTouches) {
  EXPECT_TRUE(laws::reads_only_what_it_says_it_touches<TypeParam>(200));
}

// Shapes come from files. One field of a good shape is replaced by one that is near, zero, or as
// large as can be.
TYPED_TEST(FilterLaws, RefusesOrSurvivesAnyShape) {
  auto filter = TypeParam::make(100, 0.01, laws::any_hasher());
  laws::insert_all(filter, random_hashes(100, 37));
  const FilterShape good = filter.shape();
  const auto number = [](std::uint64_t near) {
    return *rc::gen::oneOf(
        rc::gen::inRange<std::uint64_t>(0, 4 * near + 4), rc::gen::arbitrary<std::uint64_t>(),
        rc::gen::just<std::uint64_t>(~std::uint64_t{0} - near),
        rc::gen::map(rc::gen::inRange(0, 64), [](int bit) { return std::uint64_t{1} << bit; }));
  };
  EXPECT_TRUE(rc::check("a shape is refused or harmless", [&] {
    FilterShape shape = good;
    LayerShape& layer = shape.layers[*rc::gen::inRange<std::size_t>(0, shape.layers.size())];
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        shape.structure = static_cast<Structure>(*rc::gen::inRange(0, 9));
        break;
      case 1:
        layer.layout = static_cast<std::uint32_t>(number(layer.layout));
        break;
      case 2:
        layer.probes = static_cast<std::uint32_t>(number(layer.probes));
        break;
      case 3:
        layer.units = number(layer.units);
        break;
      case 4:
        layer.unit_bits = static_cast<std::uint32_t>(number(layer.unit_bits));
        break;
      case 5:
        layer.size_bytes = number(layer.size_bytes);
        break;
      case 6:
        layer.capacity = *rc::gen::inRange<std::uint64_t>(0, 100'000);
        break;
      case 7:
        shape.layers.resize(*rc::gen::inRange<std::size_t>(0, 70));
        break;
    }
    laws::use_if_restored(shape, filter);
  }));
}

template <laws::Kind K>
class BitwiseFilterLaws : public testing::Test {};

using BitwiseKinds = testing::Types<SplitLineKind, SplitLine16Kind, SplitBlockKind, ClassicKind,
                                    CountingKind, CuckooKind, AnyKind>;
TYPED_TEST_SUITE(BitwiseFilterLaws, BitwiseKinds);

TYPED_TEST(BitwiseFilterLaws, MergingIsInsertingBoth) {
  EXPECT_TRUE(laws::merging_is_inserting_both<TypeParam>(2000));
}

TYPED_TEST(BitwiseFilterLaws, RefusesToMergeWithAnotherSize) {
  const auto filter = TypeParam::make(1000, 0.01, laws::any_hasher());
  EXPECT_TRUE(laws::is_refused_and_changes_nothing(
      filter, TypeParam::make(2000, 0.01, laws::any_hasher())));
}

template <laws::Kind K>
class DeletingFilterLaws : public testing::Test {};

using DeletingKinds = testing::Types<CountingKind, CuckooKind>;
TYPED_TEST_SUITE(DeletingFilterLaws, DeletingKinds);

TYPED_TEST(DeletingFilterLaws, DeletingNeverHidesAnotherKey) {
  for (const std::uint64_t items : {2, 100, 100'000})
    EXPECT_TRUE(laws::deleting_never_hides_another_key<TypeParam>(items)) << items << " items";
}

// Of a few keys, any order of inserts and deletes: a key is found while it is owed.
TYPED_TEST(DeletingFilterLaws, FindsEveryKeyThatIsOwed) {
  EXPECT_TRUE(rc::check("a key is found from its insert to its delete", [] {
    // Hashes that share fingerprints, buckets and counters much more often than real ones do.
    std::vector<KeyHash> keys;
    for (std::uint64_t key = 0; key < 12; ++key)
      keys.push_back({(key % 3) << 62 | (key / 3 % 2) << 40 | (1 + key / 6)});
    auto filter = TypeParam::make(64, 0.01, laws::any_hasher());
    std::vector<bool> owed(keys.size(), false);
    for (const auto key : *rc::gen::container<std::vector<std::size_t>>(
             rc::gen::inRange<std::size_t>(0, keys.size()))) {
      if (owed[key]) {
        filter.remove(keys[key]);
      } else {
        laws::insert(filter, keys[key]);
      }
      owed[key] = !owed[key];
      for (std::size_t i = 0; i < keys.size(); ++i)
        RC_ASSERT(!owed[i] || filter.may_contain(keys[i]));
    }
  }));
}

// The testers are tested: each law holds for the sound filter and fails for the broken one.
TEST(FilterLawsThemselves, NoticeAFilterThatForgets) {
  EXPECT_FALSE(
      laws::denies_no_inserted_key<BrokenKind<Fault::forgets_a_key_in_a_thousand>>(10'000));
}

TEST(FilterLawsThemselves, NoticeAFilterThatIsTooSmall) {
  EXPECT_FALSE((laws::keeps_its_rate<BrokenKind<Fault::is_too_small>>(100'000, 1'000'000, 0.01)));
}

TEST(FilterLawsThemselves, NoticeAFilterThatMisjudgesItsRate) {
  EXPECT_FALSE(
      (laws::keeps_its_rate<BrokenKind<Fault::misjudges_its_rate>>(100'000, 1'000'000, 0.01)));
}

TEST(FilterLawsThemselves, NoticeAFilterThatCountsKeysAgain) {
  EXPECT_FALSE(laws::inserting_twice_is_inserting_once<BrokenKind<Fault::counts_keys_again>>(1000));
}

TEST(FilterLawsThemselves, NoticeAFilterThatMergesNothing) {
  EXPECT_FALSE(laws::merging_keeps_the_keys_of_both<BrokenKind<Fault::merges_nothing>>(1000));
  EXPECT_FALSE(laws::merging_is_inserting_both<BrokenKind<Fault::merges_nothing>>(1000));
}

TEST(FilterLawsThemselves, NoticeAFilterThatMergesWhatIsUnlike) {
  using Broken = BrokenKind<Fault::merges_what_is_unlike>;
  EXPECT_FALSE(laws::is_refused_and_changes_nothing(Broken::make(1000, 0.01, laws::any_hasher()),
                                                    Broken::make(2000, 0.01, laws::any_hasher())));
}

TEST(FilterLawsThemselves, NoticeAFilterThatLosesBitsWhenRestored) {
  EXPECT_FALSE(
      laws::is_restored_from_shape_and_bytes<BrokenKind<Fault::loses_bits_when_restored>>(1000));
}

TEST(FilterLawsThemselves, NoticeAFilterThatSharesItsBitsWithCopies) {
  EXPECT_FALSE(laws::copies_are_independent<BrokenKind<Fault::shares_its_bits_with_copies>>(500));
}

TEST(FilterLawsThemselves, NoticeAFilterThatIsNotCleared) {
  EXPECT_FALSE(laws::clearing_empties<BrokenKind<Fault::clears_only_the_count>>(500));
}

TEST(FilterLawsThemselves, NoticeAFilterThatMisstatesItsSize) {
  EXPECT_FALSE(laws::tells_its_size<BrokenKind<Fault::misstates_its_size>>(10'000));
}

TEST(FilterLawsThemselves, NoticeAFilterThatReadsMoreThanItSays) {
  EXPECT_FALSE(
      laws::reads_only_what_it_says_it_touches<BrokenKind<Fault::reads_more_than_it_says>>(200));
}

TEST(FilterLawsThemselves, NoticeAFilterThatDeletesSharedBits) {
  EXPECT_FALSE(laws::deleting_never_hides_another_key<BrokenKind<Fault::deletes_shared_bits>>(100));
}

TEST(FilterLawsThemselves, AcceptASoundFilter) {
  using Sound = BrokenKind<Fault::none>;
  EXPECT_TRUE(laws::denies_no_inserted_key<Sound>(10'000));
  EXPECT_TRUE((laws::keeps_its_rate<Sound>(100'000, 1'000'000, 0.01)));
  EXPECT_TRUE(laws::inserting_twice_is_inserting_once<Sound>(1000));
  EXPECT_TRUE(laws::merging_is_inserting_both<Sound>(1000));
  EXPECT_TRUE(laws::is_restored_from_shape_and_bytes<Sound>(1000));
  EXPECT_TRUE(laws::copies_are_independent<Sound>(500));
  EXPECT_TRUE(laws::clearing_empties<Sound>(500));
  EXPECT_TRUE(laws::tells_its_size<Sound>(10'000));
  EXPECT_TRUE(laws::reads_only_what_it_says_it_touches<Sound>(200));
}

}  // namespace
}  // namespace guestlist
