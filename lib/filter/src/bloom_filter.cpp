#include "guestlist/filter/bloom_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "guestlist/filter/block_sizing.hpp"

namespace guestlist {
namespace {

/// Keys that are hashed before their batch starts; the hashes stay in the nearest cache.
constexpr std::size_t hashed_at_once = 512;

using HashBuffer = std::array<KeyHash, hashed_at_once>;

std::span<const KeyHash> hash_keys(const KeyHasher& hasher, std::span<const std::string_view> keys,
                                   HashBuffer& buffer) noexcept {
  std::ranges::transform(keys, buffer.begin(), hasher);
  return std::span(buffer).first(keys.size());
}

tl::unexpected<Error> corrupt(std::string_view what) {
  return fail(Errc::corrupt, fmt::format("the shape of this Bloom filter is impossible: {}", what));
}

bool is_known(std::uint32_t layout) noexcept {
  return layout >= static_cast<std::uint32_t>(BlockLayout::split_line) &&
         layout <= static_cast<std::uint32_t>(BlockLayout::split_block);
}

}  // namespace

Result<BloomFilter> BloomFilter::make(const FilterPlan& plan, const KeyHasher& hasher) {
  auto bits = BlockArray::make(plan.layout(), plan.block_count());
  if (!bits) return fail(std::move(bits).error());
  return BloomFilter(*std::move(bits), hasher, plan.items(), plan.fpr());
}

Result<BloomFilter> BloomFilter::restore(const FilterShape& shape, const KeyHasher& hasher,
                                         std::vector<Storage> layers) {
  if (shape.structure != Structure::bloom) return corrupt("it is another structure");
  if (shape.layers.size() != 1 || layers.size() != 1)
    return corrupt("it has not exactly one layer");
  const LayerShape& layer = shape.layers.front();
  if (!is_known(layer.layout)) return corrupt(fmt::format("there is no layout {}", layer.layout));
  const auto layout = static_cast<BlockLayout>(layer.layout);
  if (layer.units == 0 || layer.units > max_blocks(layout)) {
    return corrupt(fmt::format("{} blocks", layer.units));
  }
  if (layer.size_bytes != layer.units * block_bytes(layout) ||
      layers.front().size_bytes() != layer.size_bytes) {
    return corrupt(
        fmt::format("{} blocks do not fill {} bytes", layer.units, layers.front().size_bytes()));
  }
  if (layer.probes != 0 || layer.unit_bits != 0)
    return corrupt("its layout has no free parameters");
  BloomFilter filter(BlockArray(layout, layer.units, std::move(layers.front())), hasher,
                     shape.capacity, shape.fpr);
  filter.inserted_ = InsertCounter(layer.items);
  return filter;
}

FilterShape BloomFilter::shape() const {
  LayerShape layer;
  layer.layout = static_cast<std::uint32_t>(layout());
  layer.units = block_count();
  layer.capacity = capacity_;
  layer.fpr = fpr_;
  layer.items = inserted_.count();
  layer.size_bytes = size_bytes();
  return {Structure::bloom, capacity_, fpr_, {layer}};
}

void BloomFilter::may_contain_many(std::span<const std::string_view> keys,
                                   std::span<bool> found) const noexcept {
  assert(keys.size() == found.size());
  HashBuffer buffer;
  while (!keys.empty()) {
    const std::size_t count = std::min(keys.size(), hashed_at_once);
    may_contain_many(hash_keys(hasher_, keys.first(count), buffer), found.first(count));
    keys = keys.subspan(count);
    found = found.subspan(count);
  }
}

std::uint64_t BloomFilter::insert_many(std::span<const KeyHash> hashes) noexcept {
  const std::uint64_t changed = bits_.insert_many(hashes);
  inserted_.add(changed);
  return changed;
}

std::uint64_t BloomFilter::insert_many(std::span<const std::string_view> keys) noexcept {
  std::uint64_t changed = 0;
  HashBuffer buffer;
  while (!keys.empty()) {
    const std::size_t count = std::min(keys.size(), hashed_at_once);
    changed += insert_many(hash_keys(hasher_, keys.first(count), buffer));
    keys = keys.subspan(count);
  }
  return changed;
}

bool BloomFilter::insert_concurrently(KeyHash hash) noexcept {
  const bool changed = bits_.insert_concurrently(hash);
  if (changed) inserted_.add_concurrently(1);
  return changed;
}

Result<BloomFilter> BloomFilter::copy_beside_inserts() const {
  auto bits = bits_.copy_beside_writers();
  if (!bits) return fail(std::move(bits).error());
  std::vector<Storage> layers;
  layers.push_back(*std::move(bits));
  return restore(shape(), hasher_, std::move(layers));
}

Result<void> BloomFilter::merge(const BloomFilter& other) {
  if (layout() != other.layout()) {
    return fail(Errc::mismatched,
                fmt::format("a {} filter cannot be merged with a {} one; build both with "
                            "one layout",
                            name(layout()), name(other.layout())));
  }
  if (block_count() != other.block_count()) {
    return fail(
        Errc::mismatched,
        fmt::format("a filter of {} blocks cannot be merged with one of {}; build both for one "
                    "number of items and one fpr",
                    block_count(), other.block_count()));
  }
  if (hasher_ != other.hasher_) {
    return fail(Errc::mismatched,
                "filters with different secrets or hashes cannot be merged; build both "
                "with one secret");
  }
  bits_.merge(other.bits_);
  inserted_ = InsertCounter(approximate_count());
  return {};
}

void BloomFilter::clear() noexcept {
  bits_.clear();
  inserted_.reset();
}

}  // namespace guestlist
