#include "guestlist/filter/cuckoo_filter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "random_hashes.hpp"

namespace guestlist {
namespace {

CuckooFilter make_filter(std::uint64_t items) {
  return CuckooFilter::make(items, 0.01, KeyHasher::xxh3(Secret())).value();
}

/// Hashes that differ in bits which neither fingerprint nor bucket take.
KeyHash twin_of(KeyHash hash) {
  return {hash.value ^ std::uint64_t{1} << 20};
}

TEST(CuckooFilter, ForgetsAKeyThatWasRemoved) {
  CuckooFilter filter = make_filter(1000);
  EXPECT_TRUE(filter.insert("amber").value());
  EXPECT_TRUE(filter.remove("amber"));
  EXPECT_FALSE(filter.may_contain("amber"));
  EXPECT_FALSE(filter.remove("amber"));
  EXPECT_EQ(filter.fill(), 0);
}

// A key and its twin look alike. Had the second insert done nothing, removing the first would deny
// the second.
TEST(CuckooFilter, KeepsAKeyWhoseTwinIsRemoved) {
  CuckooFilter filter = make_filter(1000);
  const KeyHash key{0x123456789ABCDEF0};
  EXPECT_TRUE(filter.insert(key).value());
  EXPECT_FALSE(filter.insert(twin_of(key)).value());
  EXPECT_FALSE(filter.remove(key));
  EXPECT_TRUE(filter.may_contain(twin_of(key)));
}

// Also after the slots were moved about by other inserts, and in a union.
TEST(CuckooFilter, KeepsTwinsApartFromOthersWhateverMoves) {
  const auto keys = random_hashes(4000, 61);
  CuckooFilter filter = make_filter(8000);
  for (const KeyHash key : keys) ASSERT_TRUE(filter.insert(key));
  for (const KeyHash key : keys) ASSERT_TRUE(filter.insert(twin_of(key)));
  CuckooFilter merged = make_filter(8000);
  for (const KeyHash key : random_hashes(3000, 62)) ASSERT_TRUE(merged.insert(key));
  ASSERT_TRUE(merged.merge(filter));
  for (const KeyHash key : keys) {
    filter.remove(key);
    merged.remove(key);
  }
  for (const KeyHash key : keys) {
    EXPECT_TRUE(filter.may_contain(twin_of(key)));
    EXPECT_TRUE(merged.may_contain(twin_of(key)));
  }
}

TEST(CuckooFilter, InsertsThatAreReplayedTakeNoRoom) {
  const auto keys = random_hashes(1000, 63);
  CuckooFilter filter = make_filter(1000);
  for (int round = 0; round < 20; ++round) {
    for (const KeyHash key : keys) ASSERT_TRUE(filter.insert(key));
  }
  EXPECT_LE(filter.approximate_count(), 1000U);
}

// n = 100 tables a size, each with keys of its own.
TEST(CuckooFilter, HoldsWhatItWasPlannedFor) {
  for (const std::uint64_t items : {1, 4, 10, 100, 1000, 10'000}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CuckooFilter filter = make_filter(items);
      for (const KeyHash key : random_hashes(items, 6400 + seed))
        ASSERT_TRUE(filter.insert(key)) << items << " items, seed " << 6400 + seed;
    }
  }
}

TEST(CuckooFilter, HoldsAMillionKeysAtThePlannedLoadWhateverTheNumberOfBuckets) {
  const CuckooFilter filter = [] {
    CuckooFilter filled = make_filter(1'000'003);
    for (const KeyHash key : random_hashes(1'000'003, 65)) EXPECT_TRUE(filled.insert(key));
    return filled;
  }();
  EXPECT_GT(filter.fill(), 0.93);
  EXPECT_LT(8.0 * static_cast<double>(filter.size_bytes()) / 1'000'003, 17.2);
}

TEST(CuckooFilter, TakesMoreThanItWasPlannedForBeforeItIsFull) {
  CuckooFilter filter = make_filter(100'000);
  const auto keys = random_hashes(200'000, 66);
  std::size_t inserted = 0;
  while (filter.insert(keys[inserted])) ++inserted;
  RecordProperty("load_when_full", std::to_string(filter.fill()));
  EXPECT_GT(filter.fill(), 0.96);
}

TEST(CuckooFilter, AFailedInsertChangesNothing) {
  CuckooFilter filter = make_filter(1000);
  const auto keys = random_hashes(3000, 67);
  std::vector<KeyHash> held;
  std::size_t failed = 0;
  for (const KeyHash key : keys) {
    const CuckooFilter before = filter;
    const auto inserted = filter.insert(key);
    if (inserted) {
      held.push_back(key);
      continue;
    }
    ++failed;
    EXPECT_EQ(inserted.error().code, Errc::full);
    EXPECT_EQ(as_text(filter.layer_bytes()[0]), as_text(before.layer_bytes()[0]));
  }
  EXPECT_GT(failed, 1000U);
  for (const KeyHash key : held) EXPECT_TRUE(filter.may_contain(key)) << key.value;
}

TEST(CuckooFilter, AMergeWithoutRoomChangesNothing) {
  CuckooFilter one = make_filter(1000);
  CuckooFilter other = one;
  for (const KeyHash key : random_hashes(800, 68)) ASSERT_TRUE(one.insert(key));
  for (const KeyHash key : random_hashes(800, 69)) ASSERT_TRUE(other.insert(key));
  const CuckooFilter before = one;
  const auto merged = one.merge(other);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::full);
  EXPECT_EQ(as_text(one.layer_bytes()[0]), as_text(before.layer_bytes()[0]));
  EXPECT_EQ(one.shape(), before.shape());
}

TEST(CuckooFilter, RefusesARateThatItsSlotsCannotGive) {
  const auto filter = CuckooFilter::make(1000, 0.0001, KeyHasher::xxh3(Secret()));
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace guestlist
