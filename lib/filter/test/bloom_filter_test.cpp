#include "guestlist/filter/bloom_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "guestlist/filter/block_sizing.hpp"
#include "random_hashes.hpp"

namespace guestlist {
namespace {

constexpr BlockLayout layouts[] = {BlockLayout::split_line, BlockLayout::split_line_16,
                                   BlockLayout::split_block};

BloomFilter make_filter(std::uint64_t items, double fpr,
                        BlockLayout layout = BlockLayout::split_line) {
  return BloomFilter::make(*FilterPlan::make(items, fpr, layout), KeyHasher::xxh3(Secret()))
      .value();
}

TEST(BloomFilter, FindsEveryKeyThatWasInserted) {
  for (const BlockLayout layout : layouts) {
    BloomFilter filter = make_filter(1000, 0.01, layout);
    for (int key = 0; key < 1000; ++key) filter.insert(std::to_string(key));
    for (int key = 0; key < 1000; ++key) {
      EXPECT_TRUE(filter.may_contain(std::to_string(key))) << name(layout) << " denies " << key;
    }
  }
}

TEST(BloomFilter, SaysOfEachInsertWhetherItChangedAnything) {
  BloomFilter filter = make_filter(1000, 0.001);
  EXPECT_TRUE(filter.insert("amber"));
  EXPECT_FALSE(filter.insert("amber"));
  EXPECT_FALSE(filter.insert_concurrently("amber"));
  EXPECT_TRUE(filter.insert_concurrently("basalt"));
  EXPECT_EQ(filter.shape().layers.front().items, 2U);
}

TEST(BloomFilter, GivesTheSameBitsWhicheverWayKeysComeIn) {
  const auto hashes = random_hashes(10'007, 1);
  for (const BlockLayout layout : layouts) {
    BloomFilter singly = make_filter(10'007, 0.001, layout);
    BloomFilter in_bulk = singly;
    BloomFilter concurrently = singly;
    std::uint64_t changed = 0;
    for (const KeyHash hash : hashes) {
      changed += singly.insert(hash) ? 1 : 0;
      concurrently.insert_concurrently(hash);
    }
    EXPECT_EQ(in_bulk.insert_many(hashes), changed);
    EXPECT_EQ(as_text(singly.layer_bytes().front()), as_text(in_bulk.layer_bytes().front()));
    EXPECT_EQ(as_text(singly.layer_bytes().front()), as_text(concurrently.layer_bytes().front()));
    EXPECT_EQ(singly.shape(), in_bulk.shape());
    EXPECT_EQ(singly.shape(), concurrently.shape());
  }
}

TEST(BloomFilter, AnswersTextBatchesAsSingleKeys) {
  BloomFilter filter = make_filter(1500, 0.01);
  std::vector<std::string> texts;
  for (int key = 0; key < 3000; ++key) texts.push_back("key " + std::to_string(key));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  filter.insert_many(std::span(keys).first(1500));
  const auto found = std::make_unique<bool[]>(keys.size());
  filter.may_contain_many(keys, std::span(found.get(), keys.size()));
  for (std::size_t key = 0; key < keys.size(); ++key) {
    EXPECT_EQ(found[key], filter.may_contain(keys[key])) << texts[key];
    EXPECT_TRUE(found[key] || key >= 1500) << texts[key];
  }
}

TEST(BloomFilter, CountsDistinctKeysFromItsBits) {
  for (const BlockLayout layout : layouts) {
    BloomFilter filter = make_filter(100'000, 0.01, layout);
    EXPECT_EQ(filter.approximate_count(), 0U);
    for (const std::size_t count : {1'000U, 50'000U, 100'000U, 200'000U}) {
      filter.clear();
      filter.insert_many(random_hashes(count, 2));
      EXPECT_NEAR(static_cast<double>(filter.approximate_count()), static_cast<double>(count),
                  0.01 * static_cast<double>(count))
          << name(layout);
    }
  }
}

TEST(BloomFilter, KnowsItsPresentRateFromItsBits) {
  for (const BlockLayout layout : layouts) {
    BloomFilter filter = make_filter(1'000'000, 0.01, layout);
    EXPECT_EQ(filter.fpr_now(), 0);
    for (const std::size_t count : {700'000U, 1'000'000U, 1'500'000U}) {
      filter.clear();
      filter.insert_many(random_hashes(count, 3));
      EXPECT_NEAR(filter.fpr_now() / fpr_of(layout, count, filter.block_count()), 1, 0.02)
          << name(layout);
    }
  }
}

TEST(BloomFilter, MergesToTheUnion) {
  const auto hashes = random_hashes(2000, 4);
  BloomFilter all = make_filter(2000, 0.01);
  BloomFilter first = all;
  BloomFilter second = all;
  all.insert_many(hashes);
  first.insert_many(std::span(hashes).first(1000));
  second.insert_many(std::span(hashes).last(1000));
  ASSERT_TRUE(first.merge(second));
  EXPECT_EQ(as_text(first.layer_bytes().front()), as_text(all.layer_bytes().front()));
}

TEST(BloomFilter, RefusesToMergeWithAnotherLayoutSizeOrHasher) {
  BloomFilter filter = make_filter(2000, 0.01);
  const BloomFilter other_hash =
      BloomFilter::make(*FilterPlan::make(2000, 0.01), KeyHasher::xxh64()).value();
  for (const BloomFilter& other :
       {make_filter(2000, 0.01, BlockLayout::split_block), make_filter(4000, 0.01), other_hash}) {
    const auto merged = filter.merge(other);
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().code, Errc::mismatched);
  }
  EXPECT_EQ(filter.fill(), 0);
}

TEST(BloomFilter, IsRestoredFromItsShapeAndBytes) {
  for (const BlockLayout layout : layouts) {
    BloomFilter filter = make_filter(3000, 0.01, layout);
    const auto hashes = random_hashes(3000, 5);
    filter.insert_many(hashes);
    const auto restored = BloomFilter::restore(filter.shape(), filter.hasher(),
                                               {Storage::view(filter.layer_bytes()[0], {})});
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->shape(), filter.shape());
    for (const KeyHash hash : hashes) EXPECT_TRUE(restored->may_contain(hash));
  }
}

TEST(BloomFilter, RefusesAShapeThatDoesNotFitItsBytes) {
  const BloomFilter filter = make_filter(3000, 0.01);
  const auto refuses = [&](auto change) {
    FilterShape shape = filter.shape();
    change(shape);
    const auto restored =
        BloomFilter::restore(shape, filter.hasher(), {Storage::view(filter.layer_bytes()[0], {})});
    return !restored && restored.error().code == Errc::corrupt;
  };
  EXPECT_FALSE(refuses([](FilterShape&) {}));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.structure = Structure::cuckoo; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers.clear(); }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers.push_back(shape.layers[0]); }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].layout = 0; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].layout = 257; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].layout = 3; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].units = 0; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].units += 1; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].units += std::uint64_t{1} << 58; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].size_bytes -= 64; }));
  EXPECT_TRUE(refuses([](FilterShape& shape) { shape.layers[0].probes = 8; }));
}

TEST(BloomFilter, AnswersFromTheBytesItSaysItTouches) {
  for (const BlockLayout layout : layouts) {
    for (const KeyHash hash : random_hashes(100, 6)) {
      BloomFilter filter = make_filter(1000, 0.01, layout);
      filter.insert(hash);
      filter.for_each_touched(hash, [&](TouchedBytes touched) {
        const ByteView bytes = filter.layer_bytes()[touched.layer];
        EXPECT_NE(as_text(bytes.subspan(touched.offset, touched.length)).find_first_not_of('\0'),
                  std::string_view::npos);
        EXPECT_EQ(as_text(bytes.first(touched.offset)).find_first_not_of('\0'),
                  std::string_view::npos);
        EXPECT_EQ(as_text(bytes.subspan(touched.offset + touched.length)).find_first_not_of('\0'),
                  std::string_view::npos);
      });
    }
  }
}

TEST(BloomFilter, CopiesAreIndependent) {
  BloomFilter filter = make_filter(1000, 0.001);
  const BloomFilter copy = filter;
  filter.insert("amber");
  EXPECT_TRUE(filter.may_contain("amber"));
  EXPECT_FALSE(copy.may_contain("amber"));
}

// Writers publish how far they are; a reader looks only for keys published before. Under
// ThreadSanitizer this also proves that readers and writers do not race.
TEST(BloomFilter, DeniesNoPublishedKeyWhileOthersInsert) {
  constexpr std::size_t writers = 2;
  constexpr std::size_t keys_each = 20'000;
  for (const BlockLayout layout : layouts) {
    BloomFilter filter = make_filter(writers * keys_each, 0.01, layout);
    std::atomic<std::size_t> published[writers] = {};
    std::atomic<std::size_t> denied = 0;
    std::vector<std::thread> threads;
    for (std::size_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] {
        const auto hashes = random_hashes(keys_each, 100 + writer);
        for (std::size_t key = 0; key < keys_each; ++key) {
          filter.insert_concurrently(hashes[key]);
          published[writer].store(key + 1, std::memory_order_release);
        }
      });
      threads.emplace_back([&, writer] {
        const auto hashes = random_hashes(keys_each, 100 + writer);
        const auto found = std::make_unique<bool[]>(keys_each);
        for (std::size_t count = 0; count < keys_each;) {
          count = published[writer].load(std::memory_order_acquire);
          if (count == 0) continue;
          if (!filter.may_contain(hashes[count - 1])) ++denied;
          const std::size_t some = std::min<std::size_t>(count, 300);
          filter.may_contain_many(std::span(hashes).subspan(count - some, some),
                                  std::span(found.get(), some));
          for (std::size_t key = 0; key < some; ++key) denied += found[key] ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(denied, 0U) << name(layout);
    for (std::size_t writer = 0; writer < writers; ++writer) {
      for (const KeyHash hash : random_hashes(keys_each, 100 + writer)) {
        ASSERT_TRUE(filter.may_contain(hash)) << name(layout);
      }
    }
  }
}

}  // namespace
}  // namespace guestlist
