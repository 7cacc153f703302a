#pragma once

// A Bloom filter for a number of keys that nobody knows: a chain of blocked Bloom filters, each
// twice as large as the one before and with 0.8 of its false positive rate. The rates of all layers
// together stay below the one asked for, however often the chain grows.
//
// Take it where keys keep coming. Where their number is known BloomFilter is smaller (10 against
// about 20 bits a key at 1 %) and answers from one cache line instead of one a layer.
//
// All layers go by one hash. A query locates and prefetches its line in every layer before it reads
// the first, so that their cache misses overlap; the newest layer, which holds half of all keys, is
// asked first.
//
// Cost: rows `guestlist-scalable` of filter_bench. Source: Almeida, Baquero, Preguica, Hutchison
// 2007; docs/maths/scalable.md says why 0.8. Distinct objects: safe. Shared objects: any number of
// readers, or one writer.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "guestlist/filter/block_array.hpp"
#include "guestlist/filter/filter_concept.hpp"

namespace guestlist {

class ScalableBloomFilter {
 public:
  static constexpr std::uint64_t growth = 2;
  static constexpr double tightening = 0.8;
  static constexpr std::size_t max_layers = 64;
  /// Below it the rates of late layers would be too small to plan for.
  static constexpr double min_fpr = 1e-6;

  /// With one layer, for at least `first_items`. Errors: as check_items_and_fpr; `invalid_argument`
  /// for an fpr below min_fpr; `too_large` where memory does not suffice.
  static Result<ScalableBloomFilter> make(std::uint64_t first_items, double fpr,
                                          const KeyHasher& hasher);
  static Result<ScalableBloomFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                             std::vector<Storage> layers);

  bool may_contain(KeyHash hash) const noexcept;
  bool may_contain(std::string_view key) const noexcept { return may_contain(hasher_(key)); }
  /// `found[i]` answers for the i-th hash; keys found in a newer layer are not looked for in older
  /// ones. Requires: spans of one size.
  void may_contain_many(std::span<const KeyHash> hashes, std::span<bool> found) const noexcept;

  std::size_t layer_count() const noexcept { return layers_.size(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  /// Its capacity is that of the layers there are now. Its fpr is the bound for all layers to come.
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const;
  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const BlockArray& bits = layers_[i].bits;
      visit(TouchedBytes{i, bits.block_offset(hash), block_bytes(bits.layout())});
    }
  }
  std::uint64_t size_bytes() const noexcept;
  double fill() const noexcept;
  std::uint64_t approximate_count() const noexcept;
  double fpr_now() const noexcept;

  /// Whether the key was new; one that was there, or seemed to be, is not inserted again. May add a
  /// layer. Errors: `too_large` where memory for the next layer does not suffice, `full` where the
  /// chain may grow no further; nothing changed then, and the key is not in the filter.
  Result<bool> insert(KeyHash hash);
  Result<bool> insert(std::string_view key) { return insert(hasher_(key)); }
  /// The union, whatever the sizes. Layers that fit into one of the same shape go there, all others
  /// join the chain, and then the bounds on the false positive rate add up. Errors: `mismatched`
  /// for another hasher, `full` for more than max_layers; nothing changed then.
  Result<void> merge(const ScalableBloomFilter& other);
  /// Back to one layer, the smallest.
  void clear() noexcept;

 private:
  struct Layer {
    BlockArray bits;
    std::uint64_t capacity;
    double fpr;
    std::uint64_t items = 0;
  };

  ScalableBloomFilter(double fpr, const KeyHasher& hasher, std::vector<Layer> layers) noexcept
      : fpr_(fpr), hasher_(hasher), layers_(std::move(layers)) {}
  static Result<Layer> make_layer(std::uint64_t items, double fpr);
  static Result<Layer> restore_layer(const LayerShape& shape, Storage bits);
  static bool fits_into(const Layer& other, const Layer& layer) noexcept;
  Result<void> grow();

  double fpr_;
  KeyHasher hasher_;
  std::vector<Layer> layers_;  ///< never empty; by capacity, the last one takes the inserts
};

static_assert(Filter<ScalableBloomFilter>);

}  // namespace guestlist
