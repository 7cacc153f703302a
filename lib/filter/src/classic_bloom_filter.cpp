#include "guestlist/filter/classic_bloom_filter.hpp"

#include <cmath>

#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

// The rate that a filter of given m and k is planned for: half of its bits set, the point of most
// information.
constexpr double half_full_fpr(std::uint32_t probes) noexcept {
  double fpr = 1;
  for (std::uint32_t i = 0; i < probes; ++i) fpr /= 2;
  return fpr;
}

}  // namespace

Result<ClassicBloomFilter> ClassicBloomFilter::make(std::uint64_t items, double fpr,
                                                    const KeyHasher& hasher) {
  if (auto valid = check_items_and_fpr(items, fpr); !valid) return fail(std::move(valid).error());
  const ClassicSize size = classic_size(items, fpr);
  auto bits = BitArray::make(size.bits);
  if (!bits) return fail(std::move(bits).error());
  return ClassicBloomFilter(size, items, fpr, hasher, std::move(*bits));
}

Result<ClassicBloomFilter> ClassicBloomFilter::make(const ClassicSize& size,
                                                    const KeyHasher& hasher) {
  if (size.bits == 0 || size.probes == 0 || size.probes > max_probes) {
    return fail(Errc::invalid_argument, "a classic Bloom filter has at least one bit and 1 to " +
                                            std::to_string(max_probes) + " probes");
  }
  auto bits = BitArray::make(size.bits);
  if (!bits) return fail(std::move(bits).error());
  const double fpr = half_full_fpr(size.probes);
  return ClassicBloomFilter(size, classic_capacity(size, fpr), fpr, hasher, std::move(*bits));
}

Result<ClassicBloomFilter> ClassicBloomFilter::restore(const FilterShape& shape,
                                                       const KeyHasher& hasher,
                                                       std::vector<Storage> layers) {
  if (shape.structure != Structure::classic_bloom || shape.layers.size() != 1 ||
      layers.size() != 1) {
    return fail(Errc::corrupt, "not the shape of a classic Bloom filter");
  }
  const LayerShape& layer = shape.layers.front();
  if (layer.probes == 0 || layer.probes > max_probes) {
    return fail(Errc::corrupt,
                "a classic Bloom filter cannot have " + std::to_string(layer.probes) + " probes");
  }
  if (layer.layout != 0 || layer.unit_bits != 1 ||
      layer.size_bytes != layers.front().size_bytes()) {
    return fail(Errc::corrupt, "the shape of this classic Bloom filter contradicts itself");
  }
  auto bits = BitArray::restore(layer.units, std::move(layers.front()));
  if (!bits) return fail(std::move(bits).error());
  ClassicBloomFilter filter({layer.units, layer.probes}, shape.capacity, shape.fpr, hasher,
                            std::move(*bits));
  filter.items_ = layer.items;
  return filter;
}

FilterShape ClassicBloomFilter::shape() const {
  LayerShape layer;
  layer.probes = size_.probes;
  layer.units = size_.bits;
  layer.unit_bits = 1;
  layer.capacity = capacity_;
  layer.fpr = fpr_;
  layer.items = items_;
  layer.size_bytes = size_bytes();
  return {Structure::classic_bloom, capacity_, fpr_, {layer}};
}

double ClassicBloomFilter::fill() const noexcept {
  return static_cast<double>(bits_.count_set()) / static_cast<double>(size_.bits);
}

std::uint64_t ClassicBloomFilter::approximate_count() const noexcept {
  return classic_count(size_, bits_.count_set());
}

double ClassicBloomFilter::fpr_now() const noexcept {
  return std::pow(fill(), size_.probes);
}

bool ClassicBloomFilter::insert(KeyHash hash) noexcept {
  ProbeSequence probe(hash, size_.bits);
  bool changed = false;
  for (std::uint32_t i = 0; i < size_.probes; ++i) changed |= bits_.set(probe.next());
  items_ += changed;
  return changed;
}

Result<void> ClassicBloomFilter::merge(const ClassicBloomFilter& other) {
  if (size_ != other.size_) {
    return fail(Errc::mismatched, "the filters have " + std::to_string(size_.bits) + " and " +
                                      std::to_string(other.size_.bits) + " bits, " +
                                      std::to_string(size_.probes) + " and " +
                                      std::to_string(other.size_.probes) + " probes");
  }
  if (hasher_ != other.hasher_) return fail(Errc::mismatched, "the filters have different secrets");
  bits_.merge(other.bits_);
  items_ = approximate_count();
  return {};
}

void ClassicBloomFilter::clear() noexcept {
  bits_.clear();
  items_ = 0;
}

}  // namespace guestlist
