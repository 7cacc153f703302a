#pragma once

// A Bloom filter of the BF.* commands: a chain of layers, of which the newest takes the adds. A
// chain that may grow adds a layer when the newest has as many items as it was planned for; one
// that may not then refuses new items.
//
// Batches go in three passes: hash every item, let the layers fetch what they will read, then
// answer. A layer asks only for the items that no newer layer has. Adding is the same with one
// insert more, and equals adding the items one by one.
//
// Distinct objects: safe. Shared objects: one thread. Tested by: LayerChain.*, and bit for bit
// against captured filters.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/added.hpp"
#include "core/classic_layer.hpp"
#include "core/memory_limit.hpp"
#include "core/native_layer.hpp"

namespace guestlist::server {

/// How a chain was made, and how it goes on.
struct ChainPlan {
  double fpr = 0.01;           ///< asked for, of the whole chain
  std::uint64_t capacity = 0;  ///< of the first layer
  std::uint32_t growth = 2;    ///< each layer is so many times as large as the one before
  bool is_scaling = true;
  /// Of the native layout alone: the first layer's share of `fpr`, and by how much each later one's
  /// is smaller than the one before. The shares of all layers to come add up to one.
  double first_share = 1;
  double tightening = 0.8;
  /// Of the classic layout alone: the option bits of its formats.
  std::uint32_t options = 0;

  friend bool operator==(const ChainPlan&, const ChainPlan&) = default;
};

/// The shape of layer `index`, after one of `previous` (null for the first); nothing where the
/// chain has come to its end.
NativeLayerShape layer_after(const ChainPlan& plan, const NativeLayerShape* previous,
                             std::size_t index);
ClassicLayerShape layer_after(const ChainPlan& plan, const ClassicLayerShape* previous,
                              std::size_t index);

inline std::uint64_t shape_bytes(const NativeLayerShape& shape) noexcept {
  return shape.size_bytes();
}
inline std::uint64_t shape_bytes(const ClassicLayerShape& shape) noexcept {
  return shape.bytes;
}

template <class Layer>
class LayerChain {
 public:
  using Hasher = typename Layer::Hasher;
  using Hash = typename Layer::Hash;
  using Shape = typename Layer::Shape;

  static constexpr std::uint64_t max_capacity = std::uint64_t{1} << 48;
  static constexpr std::size_t max_layers = 1024;
  /// Items that `add_some` takes at most.
  static constexpr std::size_t batch = 256;

  /// With one empty layer. Errors: `too_large`.
  static Result<LayerChain> make(const ChainPlan& plan, const Hasher& hasher,
                                 const MemoryLimit& limit);
  /// Around layers that were read. Requires: at least one.
  LayerChain(const ChainPlan& plan, const Hasher& hasher, std::vector<Layer> layers,
             std::uint64_t items) noexcept
      : plan_(plan), hasher_(hasher), layers_(std::move(layers)), items_(items) {}

  const ChainPlan& plan() const noexcept { return plan_; }
  const Hasher& hasher() const noexcept { return hasher_; }
  const std::vector<Layer>& layers() const noexcept { return layers_; }
  std::vector<Layer>& layers() noexcept { return layers_; }
  std::uint64_t items() const noexcept { return items_; }
  std::uint64_t capacity() const noexcept;
  /// Of the bits.
  std::uint64_t size_bytes() const noexcept;
  std::uint64_t allocated_bytes() const noexcept;

  bool may_contain(std::string_view item) const noexcept;
  /// Requires: as many answers as items.
  void may_contain_many(std::span<const std::string_view> items, bool* found) const noexcept;

  Added add(std::string_view item, const MemoryLimit& limit);
  /// Adds until the items are through or the chain is full, and returns how many outcomes it wrote.
  /// Requires: at most `batch` items.
  std::size_t add_some(std::span<const std::string_view> items, Added* outcomes,
                       const MemoryLimit& limit);

  /// No item, one layer, the smallest; the plan stays.
  void clear() noexcept;
  /// Joins a chain of the same hasher and plan. Layers that have one of the same shape with room
  /// for both go there, all others join the chain.
  void merge(LayerChain&& other);

 private:
  /// Of the hashes of at most `batch` items.
  void find(std::span<const Hash> hashes, bool* found) const noexcept;
  Added grow(const MemoryLimit& limit);
  bool is_full() const noexcept { return layers_.back().items() >= layers_.back().capacity(); }

  ChainPlan plan_;
  Hasher hasher_;
  std::vector<Layer> layers_;
  std::uint64_t items_ = 0;
};

using NativeChain = LayerChain<NativeLayer>;
using ClassicChain = LayerChain<ClassicLayer>;

extern template class LayerChain<NativeLayer>;
extern template class LayerChain<ClassicLayer>;

}  // namespace guestlist::server
