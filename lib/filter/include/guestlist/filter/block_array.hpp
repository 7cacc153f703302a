#pragma once

// The bits of a blocked Bloom filter: blocks in memory, and what can be done to them by hash.
// BloomFilter and IntegerBloomFilter put a hasher on top; ScalableBloomFilter chains several.
//
// Cost of a query: one cache line. Complexity and measured times: docs/benchmarks.md.
//
// Distinct objects: safe. Shared objects: queries from any thread, beside either one thread that
// calls `insert` or `insert_many`, or any number of threads that call `insert_concurrently`; never
// beside merge, clear or assignment. A key inserted before (in the sense of happens-before) is
// found.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_bits.hpp"
#include "guestlist/filter/block_body_avx2.hpp"
#include "guestlist/filter/block_kernels.hpp"
#include "guestlist/filter/block_layout.hpp"
#include "guestlist/filter/storage.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

class BlockArray {
 public:
  /// All bits clear. Requires: 0 < blocks <= max_blocks(layout). Errors: as Storage::allocate.
  static Result<BlockArray> make(BlockLayout layout, std::uint64_t blocks);

  /// Around bits that exist. Requires: `bits` has exactly `blocks` blocks of `layout`.
  BlockArray(BlockLayout layout, std::uint64_t blocks, Storage bits) noexcept;

  BlockLayout layout() const noexcept { return layout_; }
  std::uint64_t block_count() const noexcept { return blocks_; }
  std::uint64_t size_bytes() const noexcept { return bits_.size_bytes(); }
  ByteView bytes() const noexcept { return bits_.bytes(); }
  /// Bytes from the start to the block of `hash`; its length is block_bytes(layout()).
  std::uint64_t block_offset(KeyHash hash) const noexcept;

  bool may_contain(KeyHash hash) const noexcept;
  /// The same without asking for the layout. Requires: Layout::layout == layout().
  template <class Layout>
  bool may_contain_in(KeyHash hash) const noexcept;
  /// `found[i]` answers for `hashes[i]`. Requires: spans of one size.
  void may_contain_many(std::span<const KeyHash> hashes, std::span<bool> found) const noexcept;
  /// The same for integers under IntegerHasher{seed}, hashed on the way.
  void may_contain_integers(std::uint64_t seed, std::span<const std::uint64_t> keys,
                            std::span<bool> found) const noexcept;

  /// Whether a bit changed. Requires, as all that write: the bits are owned, not a view.
  bool insert(KeyHash hash) noexcept;
  /// The same without asking for the layout. Requires: Layout::layout == layout().
  template <class Layout>
  bool insert_in(KeyHash hash) noexcept;
  /// How many changed a bit.
  std::size_t insert_many(std::span<const KeyHash> hashes) noexcept;
  std::size_t insert_integers(std::uint64_t seed, std::span<const std::uint64_t> keys) noexcept;
  /// As insert, beside other threads that call the same. Lock-free: reads the block, and sets by
  /// atomic OR the words that lack a bit. A key that is there already costs a read.
  bool insert_concurrently(KeyHash hash) noexcept;

  /// As Storage::copy_beside_writers.
  Result<Storage> copy_beside_writers() const { return bits_.copy_beside_writers(); }

  /// The union. Requires: the same layout and number of blocks.
  void merge(const BlockArray& other) noexcept;
  void clear() noexcept;

  /// Share of bits set. Complexity: reads all bits, as the next two.
  double fill() const noexcept;
  /// Distinct keys, from the share of bits that are still clear.
  std::uint64_t approximate_count() const noexcept;
  /// The probability that a random absent key is found, exactly, from the bits as they are: the
  /// mean over the blocks of the product over their lanes of the lane's fill.
  double fpr_now() const noexcept;

 private:
  const std::uint64_t* words() const noexcept {
    return reinterpret_cast<const std::uint64_t*>(bits_.data());
  }
  std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(bits_.mutable_data()); }

  Storage bits_;
  std::uint64_t blocks_;
  const BlockKernels* kernels_;
  BlockLayout layout_;
};

// Single calls. A unit that is compiled for AVX2 has them inline; elsewhere one indirect call
// reaches the best body of the machine. They are always inlined so that a program may mix units of
// both kinds.

#if defined(__AVX2__)

template <class Layout>
[[gnu::always_inline]] inline bool BlockArray::may_contain_in(KeyHash hash) const noexcept {
  assert(layout_ == Layout::layout);
  if constexpr (races_are_watched) return kernels_->may_contain(words(), blocks_, hash.value);
  return BlockBodyAvx2<Layout>::may_contain(
      words() + Layout::block_of(hash.value, blocks_) * Layout::words, Layout::bits_of(hash.value));
}

template <class Layout>
[[gnu::always_inline]] inline bool BlockArray::insert_in(KeyHash hash) noexcept {
  assert(layout_ == Layout::layout);
  if constexpr (races_are_watched) return kernels_->insert(words(), blocks_, hash.value);
  return BlockBodyAvx2<Layout>::insert(
      words() + Layout::block_of(hash.value, blocks_) * Layout::words, Layout::bits_of(hash.value));
}

[[gnu::always_inline]] inline bool BlockArray::may_contain(KeyHash hash) const noexcept {
  if (layout_ == BlockLayout::split_line) [[likely]]
    return may_contain_in<SplitLine>(hash);
  if (layout_ == BlockLayout::split_block) return may_contain_in<SplitBlock>(hash);
  return may_contain_in<SplitLine16>(hash);
}

[[gnu::always_inline]] inline bool BlockArray::insert(KeyHash hash) noexcept {
  if (layout_ == BlockLayout::split_line) [[likely]]
    return insert_in<SplitLine>(hash);
  if (layout_ == BlockLayout::split_block) return insert_in<SplitBlock>(hash);
  return insert_in<SplitLine16>(hash);
}

#else

[[gnu::always_inline]] inline bool BlockArray::may_contain(KeyHash hash) const noexcept {
  return kernels_->may_contain(words(), blocks_, hash.value);
}

[[gnu::always_inline]] inline bool BlockArray::insert(KeyHash hash) noexcept {
  return kernels_->insert(words(), blocks_, hash.value);
}

template <class Layout>
[[gnu::always_inline]] inline bool BlockArray::may_contain_in(KeyHash hash) const noexcept {
  assert(layout_ == Layout::layout);
  return may_contain(hash);
}

template <class Layout>
[[gnu::always_inline]] inline bool BlockArray::insert_in(KeyHash hash) noexcept {
  assert(layout_ == Layout::layout);
  return insert(hash);
}

#endif

}  // namespace guestlist
