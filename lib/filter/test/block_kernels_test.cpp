#include "guestlist/filter/block_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "block_body_scalar.hpp"
#include "guestlist/filter/storage.hpp"
#include "guestlist/hash/integer_hash.hpp"
#include "random_hashes.hpp"
#include "simulated_kernels.hpp"

namespace guestlist {
namespace {

constexpr BlockLayout layouts[] = {BlockLayout::split_line, BlockLayout::split_line_16,
                                   BlockLayout::split_block};

struct Candidate {
  std::string name;
  const BlockKernels* kernels;
};

/// Every body that can run here, on the machine or simulated; the first is the reference.
std::vector<Candidate> candidates(BlockLayout layout) {
  std::vector<Candidate> all;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::neon}) {
    if (is_supported(isa)) all.push_back({std::string(name(isa)), &block_kernels(isa, layout)});
  }
  if (const auto* simulated = simulated_avx512_kernels(layout))
    all.push_back({"simulated avx512", simulated});
  if (const auto* simulated = simulated_neon_kernels(layout))
    all.push_back({"simulated neon", simulated});
  return all;
}

/// Hashes with extreme halves and bytes, many of which meet in one block.
std::vector<std::uint64_t> adversarial_hashes(std::size_t count, std::uint64_t seed) {
  constexpr std::uint64_t pieces[] = {0,          1,          0x7F,       0x80,
                                      0xFF,       0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
                                      0xFFFFFFFF, 0x3F3F3F3F, 0xC0C0C0C0, 0x01010101};
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) {
    hash = pieces[random() % std::size(pieces)] << 32 | pieces[random() % std::size(pieces)];
    if (random() % 4 == 0) hash ^= std::uint64_t{1} << (random() % 64);
    if (random() % 4 == 0) hash = random();
  }
  return hashes;
}

struct Filled {
  Storage bits;
  std::size_t changed = 0;
  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(bits.mutable_data()); }
};

Filled empty(BlockLayout layout, std::uint64_t blocks) {
  return {Storage::allocate(blocks * block_bytes(layout)).value()};
}

TEST(BlockKernels, TestsRunEveryBodyHere) {
  for (const BlockLayout layout : layouts) {
    for (const Candidate& candidate : candidates(layout)) {
      RecordProperty(candidate.name, std::string(name(layout)));
    }
  }
#if defined(__x86_64__) && __has_include(<simde/simde-common.h>)
  EXPECT_GE(candidates(BlockLayout::split_line).size(), is_supported(Isa::avx2) ? 4U : 2U);
#endif
}

// The whole differential law: every body, layout, batch size up to 300 and small filter size sets
// the bits and gives the answers of the scalar body called key by key.
TEST(BlockKernels, AllBodiesSetTheSameBitsAndGiveTheSameAnswers) {
  constexpr std::uint64_t block_counts[] = {1, 2, 3, 7, 8, 63, 64, 65, 127, 1000, 4096, 65'537};
  for (const BlockLayout layout : layouts) {
    const auto all = candidates(layout);
    for (std::size_t count = 0; count <= 300; ++count) {
      const std::uint64_t blocks = block_counts[count % std::size(block_counts)];
      const auto keys = adversarial_hashes(count, count);
      const auto others = adversarial_hashes(count, count + 1000);
      const std::string where = std::string(name(layout)) + ", " + std::to_string(blocks) +
                                " blocks, batch and seed " + std::to_string(count);
      Filled expected = empty(layout, blocks);
      for (const std::uint64_t key : keys) {
        expected.changed += all[0].kernels->insert(expected.words(), blocks, key) ? 1 : 0;
      }
      for (const Candidate& candidate : all) {
        Filled singly = empty(layout, blocks);
        Filled bulk = empty(layout, blocks);
        for (const std::uint64_t key : keys) {
          singly.changed += candidate.kernels->insert(singly.words(), blocks, key) ? 1 : 0;
        }
        bulk.changed = candidate.kernels->insert_many(bulk.words(), blocks, keys.data(), count);
        ASSERT_EQ(as_text(singly.bits.bytes()), as_text(expected.bits.bytes()))
            << candidate.name << ", " << where;
        ASSERT_EQ(as_text(bulk.bits.bytes()), as_text(expected.bits.bytes()))
            << candidate.name << ", " << where;
        ASSERT_EQ(singly.changed, expected.changed) << candidate.name << ", " << where;
        ASSERT_EQ(bulk.changed, expected.changed) << candidate.name << ", " << where;
        const auto found = std::make_unique<bool[]>(count);
        candidate.kernels->may_contain_many(expected.words(), blocks, keys.data(), count,
                                            found.get());
        ASSERT_TRUE(
            std::all_of(found.get(), found.get() + count, [](bool is_found) { return is_found; }))
            << candidate.name << " denies a key, " << where;
        candidate.kernels->may_contain_many(expected.words(), blocks, others.data(), count,
                                            found.get());
        for (std::size_t key = 0; key < count; ++key) {
          const bool answer = all[0].kernels->may_contain(expected.words(), blocks, others[key]);
          ASSERT_EQ(candidate.kernels->may_contain(expected.words(), blocks, others[key]), answer)
              << candidate.name << ", " << where;
          ASSERT_EQ(found[key], answer) << candidate.name << ", " << where;
        }
      }
    }
  }
}

TEST(BlockKernels, HashIntegersOnTheWayAsTheHasherDoes) {
  constexpr std::uint64_t blocks = 100;
  constexpr std::uint64_t seed = 0x123456789ABCDEF;
  for (const BlockLayout layout : layouts) {
    for (const Candidate& candidate : candidates(layout)) {
      for (std::size_t count = 0; count <= 300; ++count) {
        const auto keys = adversarial_hashes(count, count);
        std::vector<std::uint64_t> hashes;
        for (const std::uint64_t key : keys) hashes.push_back(IntegerHasher{seed}(key).value);
        Filled expected = empty(layout, blocks);
        Filled integers = empty(layout, blocks);
        expected.changed =
            candidate.kernels->insert_many(expected.words(), blocks, hashes.data(), count);
        integers.changed =
            candidate.kernels->insert_integers(integers.words(), blocks, seed, keys.data(), count);
        ASSERT_EQ(as_text(integers.bits.bytes()), as_text(expected.bits.bytes()))
            << candidate.name << ", " << count << " keys";
        ASSERT_EQ(integers.changed, expected.changed) << candidate.name << ", " << count << " keys";
        const auto found = std::make_unique<bool[]>(count);
        candidate.kernels->may_contain_integers(expected.words(), blocks, seed, keys.data(), count,
                                                found.get());
        ASSERT_TRUE(
            std::all_of(found.get(), found.get() + count, [](bool is_found) { return is_found; }))
            << candidate.name << " denies one of " << count << " keys";
      }
    }
  }
}

// Nothing is touched that the placement did not name, also where the number of blocks needs more
// than 32 bits. Such a filter would be 256 GiB, so only the placement runs; it is exact on both
// sides of 2^32.
TEST(BlockBits, PlaceEveryHashInsideTheBlocksInTheOrderOfHashes) {
  for (const std::uint64_t blocks :
       {std::uint64_t{1}, std::uint64_t{3}, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32,
        (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 40}) {
    EXPECT_EQ(SplitLine::block_of(0, blocks), 0U);
    EXPECT_EQ(SplitLine::block_of(~std::uint64_t{0}, blocks), blocks - 1);
    EXPECT_EQ(SplitLine::block_of(std::uint64_t{1} << 63, blocks), blocks / 2);
  }
  constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 1;
  EXPECT_EQ(SplitBlock::block_of(~std::uint64_t{0}, most), most - 1);
}

// The page docs/maths/blocked-bloom.md works this example by hand.
TEST(BlockBits, PutTheBitsOfAKeyWhereTheirDefinitionSays) {
  constexpr std::uint64_t hash = 0x0123456789ABCDEF;
  EXPECT_EQ(SplitLine::bits_of(hash).positions, (hash * 0x9E3779B1) & 0x3F3F3F3F3F3F3F3F);
  EXPECT_EQ(SplitLine::mask({0x3F00000000000001}, 0), std::uint64_t{1} << 62);
  EXPECT_EQ(SplitLine::mask({0x3F00000000000001}, 1), std::uint64_t{1} << 63);
  EXPECT_EQ(SplitLine::mask({0x3F00000000000001}, 7), std::uint64_t{1});
}

}  // namespace
}  // namespace guestlist
