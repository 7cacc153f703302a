#include "guestlist/filter/scalable_bloom_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "guestlist/base/units.hpp"
#include "guestlist/filter/block_sizing.hpp"
#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

constexpr std::size_t asked_at_once = 512;

}  // namespace

Result<ScalableBloomFilter::Layer> ScalableBloomFilter::make_layer(std::uint64_t items,
                                                                   double fpr) {
  const bool two_bits_are_smaller = bits_per_key_for(BlockLayout::split_line_16, fpr) <
                                    bits_per_key_for(BlockLayout::split_line, fpr);
  const BlockLayout layout =
      two_bits_are_smaller ? BlockLayout::split_line_16 : BlockLayout::split_line;
  const std::uint64_t blocks = blocks_for(layout, items, fpr);
  auto bits = BlockArray::make(layout, blocks);
  if (!bits) return fail(std::move(bits).error());
  // A layer for one key fills a whole line, which has room for more.
  return Layer{*std::move(bits), capacity_for(layout, blocks, fpr), fpr};
}

Result<ScalableBloomFilter> ScalableBloomFilter::make(std::uint64_t first_items, double fpr,
                                                      const KeyHasher& hasher) {
  if (auto valid = check_items_and_fpr(first_items, fpr); !valid)
    return fail(std::move(valid).error());
  if (fpr < min_fpr) {
    return fail(Errc::invalid_argument,
                fmt::format("a scalable filter has an fpr of {} or more; ask for no less, or plan "
                            "a Bloom filter of fixed size",
                            min_fpr));
  }
  // The rates of the layers are a geometric series with the sum `fpr`.
  auto first = make_layer(first_items, fpr * (1 - tightening));
  if (!first) return fail(std::move(first).error());
  std::vector<Layer> layers;
  layers.push_back(*std::move(first));
  return ScalableBloomFilter(fpr, hasher, std::move(layers));
}

Result<ScalableBloomFilter::Layer> ScalableBloomFilter::restore_layer(const LayerShape& shape,
                                                                      Storage bits) {
  const auto layout = static_cast<BlockLayout>(shape.layout);
  const bool known = shape.layout == static_cast<std::uint32_t>(BlockLayout::split_line) ||
                     shape.layout == static_cast<std::uint32_t>(BlockLayout::split_line_16) ||
                     shape.layout == static_cast<std::uint32_t>(BlockLayout::split_block);
  const bool possible = known && shape.probes == 0 && shape.unit_bits == 0 && shape.units > 0 &&
                        shape.units <= max_blocks(layout) && shape.capacity > 0 &&
                        shape.size_bytes == shape.units * block_bytes(layout) &&
                        bits.size_bytes() == shape.size_bytes && shape.fpr > 0 && shape.fpr < 1;
  if (!possible)
    return fail(Errc::corrupt, "a layer of this scalable filter has no possible shape");
  return Layer{BlockArray(layout, shape.units, std::move(bits)), shape.capacity, shape.fpr,
               shape.items};
}

Result<ScalableBloomFilter> ScalableBloomFilter::restore(const FilterShape& shape,
                                                         const KeyHasher& hasher,
                                                         std::vector<Storage> layers) {
  const std::size_t count = shape.layers.size();
  if (shape.structure != Structure::scalable_bloom || count == 0 || count > max_layers ||
      layers.size() != count) {
    return fail(Errc::corrupt, "not the shape of a scalable Bloom filter");
  }
  std::vector<Layer> chain;
  for (std::size_t i = 0; i < count; ++i) {
    auto layer = restore_layer(shape.layers[i], std::move(layers[i]));
    if (!layer) return fail(std::move(layer).error());
    chain.push_back(*std::move(layer));
  }
  return ScalableBloomFilter(shape.fpr, hasher, std::move(chain));
}

bool ScalableBloomFilter::may_contain(KeyHash hash) const noexcept {
  for (const Layer& layer : layers_) {
    __builtin_prefetch(layer.bits.bytes().data() + layer.bits.block_offset(hash));
  }
  return std::any_of(layers_.rbegin(), layers_.rend(),
                     [&](const Layer& layer) { return layer.bits.may_contain(hash); });
}

void ScalableBloomFilter::may_contain_many(std::span<const KeyHash> hashes,
                                           std::span<bool> found) const noexcept {
  assert(hashes.size() == found.size());
  std::array<KeyHash, asked_at_once> open;         // not found yet, in order
  std::array<std::size_t, asked_at_once> open_at;  // where their answers go
  std::array<bool, asked_at_once> answers;
  for (std::size_t start = 0; start < hashes.size(); start += asked_at_once) {
    std::size_t count = std::min(asked_at_once, hashes.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      open[i] = hashes[start + i];
      open_at[i] = start + i;
      found[start + i] = false;
    }
    for (auto layer = layers_.rbegin(); layer != layers_.rend() && count > 0; ++layer) {
      layer->bits.may_contain_many(std::span(open).first(count), std::span(answers).first(count));
      std::size_t still_open = 0;
      for (std::size_t i = 0; i < count; ++i) {
        found[open_at[i]] = answers[i];
        open[still_open] = open[i];
        open_at[still_open] = open_at[i];
        still_open += answers[i] ? 0 : 1;
      }
      count = still_open;
    }
  }
}

FilterShape ScalableBloomFilter::shape() const {
  FilterShape shape{Structure::scalable_bloom, 0, fpr_, {}};
  for (const Layer& layer : layers_) {
    LayerShape& part = shape.layers.emplace_back();
    part.layout = static_cast<std::uint32_t>(layer.bits.layout());
    part.units = layer.bits.block_count();
    part.capacity = layer.capacity;
    part.fpr = layer.fpr;
    part.items = layer.items;
    part.size_bytes = layer.bits.size_bytes();
    shape.capacity += layer.capacity;
  }
  return shape;
}

std::vector<ByteView> ScalableBloomFilter::layer_bytes() const {
  std::vector<ByteView> bytes;
  for (const Layer& layer : layers_) bytes.push_back(layer.bits.bytes());
  return bytes;
}

std::uint64_t ScalableBloomFilter::size_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer.bits.size_bytes();
  return bytes;
}

double ScalableBloomFilter::fill() const noexcept {
  double bytes_set = 0;
  for (const Layer& layer : layers_) {
    bytes_set += layer.bits.fill() * static_cast<double>(layer.bits.size_bytes());
  }
  return bytes_set / static_cast<double>(size_bytes());
}

std::uint64_t ScalableBloomFilter::approximate_count() const noexcept {
  std::uint64_t count = 0;
  for (const Layer& layer : layers_) count += layer.bits.approximate_count();
  return count;
}

double ScalableBloomFilter::fpr_now() const noexcept {
  double absent = 1;
  for (const Layer& layer : layers_) absent *= 1 - layer.bits.fpr_now();
  return 1 - absent;
}

Result<void> ScalableBloomFilter::grow() {
  const Layer& last = layers_.back();
  if (layers_.size() == max_layers || last.capacity > FilterPlan::max_items / growth) {
    return fail(Errc::full,
                fmt::format("the scalable filter has grown to {} layers, the last for {} keys, and "
                            "may not grow further; start a new one",
                            layers_.size(), format_count(last.capacity)));
  }
  auto next = make_layer(last.capacity * growth, last.fpr * tightening);
  if (!next) return fail(std::move(next).error());
  layers_.push_back(*std::move(next));
  return {};
}

Result<bool> ScalableBloomFilter::insert(KeyHash hash) {
  if (may_contain(hash)) return false;
  if (layers_.back().items >= layers_.back().capacity) {
    if (auto grown = grow(); !grown) return fail(std::move(grown).error());
  }
  layers_.back().bits.insert(hash);
  ++layers_.back().items;
  return true;
}

bool ScalableBloomFilter::fits_into(const Layer& other, const Layer& layer) noexcept {
  return other.bits.layout() == layer.bits.layout() &&
         other.bits.block_count() == layer.bits.block_count() && other.fpr == layer.fpr &&
         other.items <= layer.capacity && layer.items <= layer.capacity - other.items;
}

Result<void> ScalableBloomFilter::merge(const ScalableBloomFilter& other) {
  if (hasher_ != other.hasher_) {
    return fail(Errc::mismatched,
                "filters with different secrets or hashes cannot be merged; build both with one "
                "secret");
  }
  if (&other == this) return {};
  if (layers_.size() + other.layers_.size() > max_layers) {
    return fail(Errc::full,
                fmt::format("filters of {} and {} layers cannot be merged, as the union "
                            "may have at most {}; build one filter from all keys",
                            layers_.size(), other.layers_.size(), max_layers));
  }
  bool has_joined = false;
  for (const Layer& theirs : other.layers_) {
    const auto ours =
        std::ranges::find_if(layers_, [&](const Layer& layer) { return fits_into(theirs, layer); });
    if (ours != layers_.end()) {
      ours->bits.merge(theirs.bits);
      ours->items += theirs.items;
    } else {
      layers_.push_back(theirs);
      has_joined = true;
    }
  }
  std::ranges::stable_sort(layers_, {}, &Layer::capacity);
  // An absent key is denied by the union if both deny it.
  if (has_joined) fpr_ = 1 - (1 - fpr_) * (1 - other.fpr_);
  return {};
}

void ScalableBloomFilter::clear() noexcept {
  layers_.erase(layers_.begin() + 1, layers_.end());
  layers_.front().bits.clear();
  layers_.front().items = 0;
}

}  // namespace guestlist
