#include "guestlist/filter/block_array.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

#include "guestlist/filter/block_sizing.hpp"

namespace guestlist {
namespace {

// A KeyHash is its value and nothing else, so an array of them is an array of values.
static_assert(sizeof(KeyHash) == sizeof(std::uint64_t));

const std::uint64_t* values(std::span<const KeyHash> hashes) noexcept {
  return reinterpret_cast<const std::uint64_t*>(hashes.data());
}

template <class Call>
auto with_layout(BlockLayout layout, Call call) {
  switch (layout) {
    case BlockLayout::split_line:
      break;
    case BlockLayout::split_line_16:
      return call(SplitLine16());
    case BlockLayout::split_block:
      return call(SplitBlock());
  }
  return call(SplitLine());
}

template <class Layout>
bool set_missing_bits(std::uint64_t* block, typename Layout::Bits bits) noexcept {
  bool changed = false;
  for (std::size_t word = 0; word < Layout::words; ++word) {
    const std::uint64_t mask = Layout::mask(bits, word);
    if ((__atomic_load_n(block + word, __ATOMIC_RELAXED) & mask) == mask) continue;
    // Relaxed is enough: bits are independent of each other and publish nothing but themselves.
    const std::uint64_t before = __atomic_fetch_or(block + word, mask, __ATOMIC_RELAXED);
    changed |= (before & mask) != mask;
  }
  return changed;
}

/// Filters are measured while others insert.
std::uint64_t load(const std::uint64_t* word) noexcept {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/// The probability that a random absent key is found in this block.
double found_by_chance(const std::uint64_t* block, BlockLayout layout) noexcept {
  double probability = 1;
  for (std::size_t word = 0; word < block_bytes(layout) / sizeof(std::uint64_t); ++word) {
    const std::uint64_t bits = load(block + word);
    if (layout == BlockLayout::split_block) {
      const int lower = std::popcount(static_cast<std::uint32_t>(bits));
      const int upper = std::popcount(static_cast<std::uint32_t>(bits >> 32));
      probability *= lower * upper / (32.0 * 32.0);
    } else {
      const double lane = std::popcount(bits) / 64.0;
      probability *= layout == BlockLayout::split_line_16 ? lane * lane : lane;
    }
  }
  return probability;
}

}  // namespace

Result<BlockArray> BlockArray::make(BlockLayout layout, std::uint64_t blocks) {
  assert(blocks > 0 && blocks <= max_blocks(layout));
  auto bits = Storage::allocate(blocks * block_bytes(layout));
  if (!bits) return fail(std::move(bits).error());
  return BlockArray(layout, blocks, *std::move(bits));
}

BlockArray::BlockArray(BlockLayout layout, std::uint64_t blocks, Storage bits) noexcept
    : bits_(std::move(bits)),
      blocks_(blocks),
      kernels_(&block_kernels(best_isa(), layout)),
      layout_(layout) {
  assert(bits_.size_bytes() == blocks * block_bytes(layout));
}

std::uint64_t BlockArray::block_offset(KeyHash hash) const noexcept {
  return with_layout(layout_, [&](auto layout) { return layout.block_of(hash.value, blocks_); }) *
         block_bytes(layout_);
}

void BlockArray::may_contain_many(std::span<const KeyHash> hashes,
                                  std::span<bool> found) const noexcept {
  assert(hashes.size() == found.size());
  kernels_->may_contain_many(words(), blocks_, values(hashes), hashes.size(), found.data());
}

void BlockArray::may_contain_integers(std::uint64_t seed, std::span<const std::uint64_t> keys,
                                      std::span<bool> found) const noexcept {
  assert(keys.size() == found.size());
  kernels_->may_contain_integers(words(), blocks_, seed, keys.data(), keys.size(), found.data());
}

std::size_t BlockArray::insert_many(std::span<const KeyHash> hashes) noexcept {
  return kernels_->insert_many(words(), blocks_, values(hashes), hashes.size());
}

std::size_t BlockArray::insert_integers(std::uint64_t seed,
                                        std::span<const std::uint64_t> keys) noexcept {
  return kernels_->insert_integers(words(), blocks_, seed, keys.data(), keys.size());
}

bool BlockArray::insert_concurrently(KeyHash hash) noexcept {
  return with_layout(layout_, [&](auto layout) {
    using Layout = decltype(layout);
    return set_missing_bits<Layout>(words() + Layout::block_of(hash.value, blocks_) * Layout::words,
                                    Layout::bits_of(hash.value));
  });
}

void BlockArray::merge(const BlockArray& other) noexcept {
  assert(layout_ == other.layout_ && blocks_ == other.blocks_);
  std::uint64_t* const into = words();
  const std::uint64_t* const from = other.words();
  for (std::uint64_t word = 0; word < size_bytes() / sizeof(std::uint64_t); ++word)
    into[word] |= from[word];
}

void BlockArray::clear() noexcept {
  std::memset(words(), 0, size_bytes());
}

double BlockArray::fill() const noexcept {
  std::uint64_t set = 0;
  const std::uint64_t count = size_bytes() / sizeof(std::uint64_t);
  for (std::uint64_t word = 0; word < count; ++word)
    set += static_cast<std::uint64_t>(std::popcount(load(words() + word)));
  return static_cast<double>(set) / (static_cast<double>(count) * 64);
}

std::uint64_t BlockArray::approximate_count() const noexcept {
  // A full filter has at least as many keys as one that has half a bit left.
  const double bits = static_cast<double>(size_bytes()) * 8;
  const double clear = std::max(1 - fill(), 0.5 / bits);
  // Loads are Poisson, so the expected clear share is exp(-load * s), with s the share of a lane
  // that one key sets: 1/64, 1/32, and for two bits that may coincide 1 - (63/64)^2.
  double share = 1.0 / 64;
  if (layout_ == BlockLayout::split_line_16) share = 1 - (63.0 / 64) * (63.0 / 64);
  if (layout_ == BlockLayout::split_block) share = 1.0 / 32;
  return static_cast<std::uint64_t>(
      std::llround(-std::log(clear) / share * static_cast<double>(blocks_)));
}

double BlockArray::fpr_now() const noexcept {
  const std::uint64_t words_per_block = block_bytes(layout_) / sizeof(std::uint64_t);
  double sum = 0;
  for (std::uint64_t block = 0; block < blocks_; ++block) {
    sum += found_by_chance(words() + block * words_per_block, layout_);
  }
  return sum / static_cast<double>(blocks_);
}

}  // namespace guestlist
