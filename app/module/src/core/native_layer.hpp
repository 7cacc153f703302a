#pragma once

// One layer of a native filter: split lines (guestlist/filter/block_bits.hpp) in the server's
// memory. A key touches one cache line.
//
// Cost of a batch: one prefetched line a key. Distinct objects: safe. Shared objects: one thread.

#include <cstdint>
#include <span>

#include "core/bit_memory.hpp"
#include "guestlist/filter/block_kernels.hpp"
#include "guestlist/filter/block_layout.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist::server {

/// What a layer is, apart from its bits.
struct NativeLayerShape {
  BlockLayout layout = BlockLayout::split_line;
  std::uint64_t blocks = 0;
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t items = 0;

  std::uint64_t size_bytes() const noexcept { return blocks * block_bytes(layout); }
  friend bool operator==(const NativeLayerShape&, const NativeLayerShape&) = default;
};

class NativeLayer {
 public:
  using Hasher = KeyHasher;
  using Hash = KeyHash;
  using Shape = NativeLayerShape;

  /// The smallest rate that a layer is planned for; below, a classic filter is smaller.
  static constexpr double min_fpr = 1e-9;

  /// For `capacity` items at `fpr`. Requires: 0 < capacity <= 2^52, min_fpr <= fpr < 1.
  static Shape plan(std::uint64_t capacity, double fpr);
  /// Whether a layer of this shape can be: what a reader asks before it trusts what it read.
  static bool is_possible(const Shape& shape) noexcept;

  /// Empty, whatever `shape.items` says. Requires: is_possible(shape). Errors: `too_large`.
  static Result<NativeLayer> make(const Shape& shape);
  /// Around bits that were read. Requires: is_possible(shape) and as many bytes.
  NativeLayer(const Shape& shape, BitMemory bits) noexcept;

  const Shape& shape() const noexcept { return shape_; }
  std::uint64_t capacity() const noexcept { return shape_.capacity; }
  std::uint64_t items() const noexcept { return shape_.items; }
  void count_item() noexcept { ++shape_.items; }
  void set_items(std::uint64_t items) noexcept { shape_.items = items; }
  std::uint32_t probe_count() const noexcept { return probes(shape_.layout); }
  std::uint64_t bit_count() const noexcept { return shape_.size_bytes() * 8; }
  BitMemory& bits() noexcept { return bits_; }
  const BitMemory& bits() const noexcept { return bits_; }

  bool may_contain(Hash hash) const noexcept {
    return kernels_->may_contain(words(), shape_.blocks, hash.value);
  }
  void may_contain_many(std::span<const Hash> hashes, bool* found) const noexcept {
    kernels_->may_contain_many(words(), shape_.blocks,
                               reinterpret_cast<const std::uint64_t*>(hashes.data()), hashes.size(),
                               found);
  }
  void prefetch(Hash hash) const noexcept;
  /// Whether a bit changed.
  bool insert(Hash hash) noexcept { return kernels_->insert(words(), shape_.blocks, hash.value); }
  /// Before a batch of inserts of the keys that were not found. Their lines are in the cache
  /// already, for the query touched them all.
  void prepare(std::span<const Hash>, const bool*) const noexcept {}

  /// The union. Requires: the same layout and blocks.
  void merge(const NativeLayer& other) noexcept;

 private:
  const std::uint64_t* words() const noexcept {
    return reinterpret_cast<const std::uint64_t*>(bits_.data());
  }
  std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(bits_.data()); }

  Shape shape_;
  BitMemory bits_;
  const BlockKernels* kernels_;
};

}  // namespace guestlist::server
