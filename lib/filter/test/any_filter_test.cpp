#include "guestlist/filter/any_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "filter_samples.hpp"

namespace guestlist {
namespace {

class EveryAnyFilter : public testing::TestWithParam<Structure> {};

TEST_P(EveryAnyFilter, AnswersManyAsOneByOne) {
  const AnyFilter filter = sample_filter(GetParam(), 1000);
  const auto hashes = sample_hashes(0, 20'001, filter.hasher());
  const auto found = std::make_unique<bool[]>(hashes.size());
  filter.may_contain_many(hashes, std::span(found.get(), hashes.size()));
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_EQ(filter.may_contain(hashes[i]), found[i]) << sample_key(i);
  }
}

TEST_P(EveryAnyFilter, InsertsManyAsOneByOne) {
  const KeyHasher hasher = KeyHasher::siphash(Secret());
  AnyFilter one_by_one = empty_filter(GetParam(), 1000, hasher);
  AnyFilter many = empty_filter(GetParam(), 1000, hasher);
  const auto hashes = sample_hashes(0, 1000, hasher);
  std::uint64_t changed = 0;
  for (const KeyHash hash : hashes) changed += one_by_one.insert(hash).value() ? 1 : 0;
  EXPECT_EQ(changed, many.insert_many(hashes).value());
  EXPECT_EQ(one_by_one.shape(), many.shape());
  ASSERT_EQ(one_by_one.layer_bytes().size(), many.layer_bytes().size());
  for (std::size_t i = 0; i < many.layer_bytes().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(one_by_one.layer_bytes()[i], many.layer_bytes()[i]));
  }
}

TEST_P(EveryAnyFilter, MergesOnlyWithItsLike) {
  const KeyHasher hasher = KeyHasher::siphash(Secret());
  AnyFilter filter = empty_filter(GetParam(), 1000, hasher);
  ASSERT_TRUE(filter.insert("one"));
  AnyFilter like = empty_filter(GetParam(), 1000, hasher);
  ASSERT_TRUE(like.insert("two"));
  ASSERT_TRUE(filter.merge(like));
  EXPECT_TRUE(filter.may_contain("one") && filter.may_contain("two"));
  for (const Structure other : all_structures) {
    if (other == GetParam()) continue;
    const auto merged = filter.merge(empty_filter(other, 1000, hasher));
    ASSERT_FALSE(merged);
    EXPECT_EQ(Errc::mismatched, merged.error().code);
    EXPECT_NE(std::string::npos, merged.error().message().find(name(other)));
  }
}

TEST_P(EveryAnyFilter, IsEmptyWhenCleared) {
  AnyFilter filter = sample_filter(GetParam(), 1000);
  EXPECT_GT(filter.fill(), 0);
  EXPECT_GT(filter.fpr_now(), 0);
  EXPECT_NEAR(1000, static_cast<double>(filter.approximate_count()), 50);
  filter.clear();
  EXPECT_EQ(0, filter.fill());
  EXPECT_EQ(0U, filter.approximate_count());
  EXPECT_FALSE(filter.may_contain(sample_key(7)));
}

INSTANTIATE_TEST_SUITE_P(Structures, EveryAnyFilter, testing::ValuesIn(all_structures),
                         [](const auto& instance) {
                           std::string text(name(instance.param));
                           std::erase(text, '-');
                           return text;
                         });

TEST(AnyFilter, SaysThatItIsFullAndKeepsWhatItHas) {
  AnyFilter filter = empty_filter(Structure::cuckoo, 100, KeyHasher::siphash(Secret()));
  const auto hashes = sample_hashes(0, 1000, filter.hasher());
  const auto inserted = filter.insert_many(hashes);
  ASSERT_FALSE(inserted);
  EXPECT_EQ(Errc::full, inserted.error().code);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(filter.may_contain(hashes[i]));
}

TEST(AnyFilter, RefusesAStructureThatDoesNotExist) {
  FilterShape shape = sample_filter(Structure::bloom, 10).shape();
  shape.structure = static_cast<Structure>(99);
  const auto restored = AnyFilter::restore(shape, KeyHasher::siphash(Secret()), {});
  ASSERT_FALSE(restored);
  EXPECT_EQ(Errc::corrupt, restored.error().code);
}

}  // namespace
}  // namespace guestlist
