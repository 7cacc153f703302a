#include "guestlist/filter/counting_bloom_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t storage_bytes(std::uint64_t counters) noexcept {
  return (counters / 128 + (counters % 128 != 0)) * 64;
}

}  // namespace

Result<CountingBloomFilter> CountingBloomFilter::make(std::uint64_t items, double fpr,
                                                      const KeyHasher& hasher) {
  if (auto valid = check_items_and_fpr(items, fpr); !valid) return fail(std::move(valid).error());
  const ClassicSize size = classic_size(items, fpr);
  auto counters = Storage::allocate(storage_bytes(size.bits));
  if (!counters) return fail(std::move(counters).error());
  return CountingBloomFilter(size, items, fpr, hasher, std::move(*counters));
}

Result<CountingBloomFilter> CountingBloomFilter::restore(const FilterShape& shape,
                                                         const KeyHasher& hasher,
                                                         std::vector<Storage> layers) {
  if (shape.structure != Structure::counting_bloom || shape.layers.size() != 1 ||
      layers.size() != 1) {
    return fail(Errc::corrupt, "not the shape of a counting Bloom filter");
  }
  const LayerShape& layer = shape.layers.front();
  const bool possible = layer.layout == 0 && layer.units > 0 && layer.probes > 0 &&
                        layer.probes <= 64 && layer.unit_bits == counter_bits &&
                        layer.size_bytes == layers.front().size_bytes() &&
                        layers.front().size_bytes() == storage_bytes(layer.units);
  if (!possible) return fail(Errc::corrupt, "the counters do not fit the length of the filter");
  CountingBloomFilter filter({layer.units, layer.probes}, shape.capacity, shape.fpr, hasher,
                             std::move(layers.front()));
  filter.items_ = layer.items;
  return filter;
}

unsigned CountingBloomFilter::counter(std::uint64_t index) const noexcept {
  const auto pair = std::to_integer<unsigned>(counters_.data()[index >> 1]);
  return (index & 1) != 0 ? pair >> 4 : pair & 15;
}

void CountingBloomFilter::set_counter(std::uint64_t index, unsigned value) noexcept {
  std::byte& pair = counters_.mutable_data()[index >> 1];
  const auto old = std::to_integer<unsigned>(pair);
  pair =
      static_cast<std::byte>((index & 1) != 0 ? (old & 0x0F) | value << 4 : (old & 0xF0) | value);
}

unsigned CountingBloomFilter::count(KeyHash hash) const noexcept {
  ProbeSequence probe(hash, size_.bits);
  unsigned least = saturated;
  for (std::uint32_t i = 0; i < size_.probes && least > 0; ++i) {
    least = std::min(least, counter(probe.next()));
  }
  return least;
}

FilterShape CountingBloomFilter::shape() const {
  LayerShape layer;
  layer.probes = size_.probes;
  layer.units = size_.bits;
  layer.unit_bits = counter_bits;
  layer.capacity = capacity_;
  layer.fpr = fpr_;
  layer.items = items_;
  layer.size_bytes = size_bytes();
  return {Structure::counting_bloom, capacity_, fpr_, {layer}};
}

std::uint64_t CountingBloomFilter::counters_in_use() const noexcept {
  std::uint64_t in_use = 0;
  for (const std::byte pair : counters_.bytes()) {
    in_use += (pair & std::byte{0x0F}) != std::byte{0};
    in_use += (pair & std::byte{0xF0}) != std::byte{0};
  }
  return in_use;
}

double CountingBloomFilter::fill() const noexcept {
  return static_cast<double>(counters_in_use()) / static_cast<double>(size_.bits);
}

std::uint64_t CountingBloomFilter::approximate_count() const noexcept {
  return classic_count(size_, counters_in_use());
}

double CountingBloomFilter::fpr_now() const noexcept {
  return std::pow(fill(), size_.probes);
}

bool CountingBloomFilter::insert(KeyHash hash) noexcept {
  ProbeSequence probe(hash, size_.bits);
  bool changed = false;
  for (std::uint32_t i = 0; i < size_.probes; ++i) {
    const std::uint64_t index = probe.next();
    const unsigned value = counter(index);
    changed |= value == 0;
    if (value < saturated) set_counter(index, value + 1);
  }
  items_ += changed;
  return changed;
}

bool CountingBloomFilter::remove(KeyHash hash) noexcept {
  if (!may_contain(hash)) return false;
  ProbeSequence probe(hash, size_.bits);
  bool emptied = false;
  for (std::uint32_t i = 0; i < size_.probes; ++i) {
    const std::uint64_t index = probe.next();
    const unsigned value = counter(index);
    // Zero: two places of a key that was never inserted may fall on one counter.
    if (value == 0 || value == saturated) continue;
    set_counter(index, value - 1);
    emptied |= value == 1;
  }
  if (emptied && items_ > 0) --items_;
  return true;
}

Result<void> CountingBloomFilter::merge(const CountingBloomFilter& other) {
  if (size_ != other.size_) {
    return fail(Errc::mismatched, "the filters have " + std::to_string(size_.bits) + " and " +
                                      std::to_string(other.size_.bits) + " counters, " +
                                      std::to_string(size_.probes) + " and " +
                                      std::to_string(other.size_.probes) + " probes");
  }
  if (hasher_ != other.hasher_) return fail(Errc::mismatched, "the filters have different secrets");
  for (std::uint64_t index = 0; index < size_.bits; ++index) {
    set_counter(index, std::min(saturated, counter(index) + other.counter(index)));
  }
  items_ = approximate_count();
  return {};
}

void CountingBloomFilter::clear() noexcept {
  std::memset(counters_.mutable_data(), 0, counters_.size_bytes());
  items_ = 0;
}

}  // namespace guestlist
