#include "core/native_layer.hpp"

#include <cassert>
#include <utility>

#include "guestlist/filter/block_bits.hpp"
#include "guestlist/filter/block_sizing.hpp"

namespace guestlist::server {

NativeLayerShape NativeLayer::plan(std::uint64_t capacity, double fpr) {
  const bool two_bits_are_smaller = bits_per_key_for(BlockLayout::split_line_16, fpr) <
                                    bits_per_key_for(BlockLayout::split_line, fpr);
  const BlockLayout layout =
      two_bits_are_smaller ? BlockLayout::split_line_16 : BlockLayout::split_line;
  return {layout, blocks_for(layout, capacity, fpr), capacity, fpr, 0};
}

bool NativeLayer::is_possible(const Shape& shape) noexcept {
  const bool known =
      shape.layout == BlockLayout::split_line || shape.layout == BlockLayout::split_line_16;
  return known && shape.blocks > 0 && shape.blocks <= max_blocks(shape.layout) &&
         shape.capacity > 0 && shape.fpr > 0 && shape.fpr < 1;
}

Result<NativeLayer> NativeLayer::make(const Shape& shape) {
  assert(is_possible(shape));
  auto bits = BitMemory::zeroed(shape.size_bytes());
  if (!bits) return fail(std::move(bits).error());
  NativeLayer layer(shape, *std::move(bits));
  layer.shape_.items = 0;
  return layer;
}

NativeLayer::NativeLayer(const Shape& shape, BitMemory bits) noexcept
    : shape_(shape), bits_(std::move(bits)), kernels_(&block_kernels(best_isa(), shape.layout)) {
  assert(bits_.size_bytes() == shape.size_bytes());
}

void NativeLayer::prefetch(Hash hash) const noexcept {
  // Both layouts place lines alike.
  __builtin_prefetch(words() + SplitLine::block_of(hash.value, shape_.blocks) * SplitLine::words);
}

void NativeLayer::merge(const NativeLayer& other) noexcept {
  assert(shape_.layout == other.shape_.layout && shape_.blocks == other.shape_.blocks);
  std::uint64_t* const into = words();
  const std::uint64_t* const from = other.words();
  const std::uint64_t count = shape_.size_bytes() / sizeof(std::uint64_t);
  for (std::uint64_t word = 0; word < count; ++word) into[word] |= from[word];
}

}  // namespace guestlist::server
