#pragma once

// What every filter tells of itself: which structure it is and the numbers that place its bits.
// Parameters travel with the bits: a filter is restored from its shape, never from capacity and fpr
// by formula.

#include <cstdint>
#include <string_view>
#include <vector>

namespace guestlist {

/// The numbers are those of the file format.
enum class Structure : std::uint16_t {
  bloom = 1,           ///< BloomFilter
  classic_bloom = 2,   ///< ClassicBloomFilter
  counting_bloom = 3,  ///< CountingBloomFilter
  scalable_bloom = 4,  ///< ScalableBloomFilter
  cuckoo = 5,          ///< CuckooFilter
};

/// `bloom`, `classic-bloom`, `counting-bloom`, `scalable-bloom`, `cuckoo`.
std::string_view name(Structure structure) noexcept;

/// One contiguous array of bits. All structures but the scalable one have exactly one.
struct LayerShape {
  /// bloom and scalable: the BlockLayout. Others: 0.
  std::uint32_t layout = 0;
  /// Bits set or tested a key (classic, counting); slots a bucket (cuckoo); 0 where the layout says
  /// it.
  std::uint32_t probes = 0;
  /// Blocks (bloom, scalable), bits (classic), counters (counting), buckets (cuckoo).
  std::uint64_t units = 0;
  /// Bits a unit: counter width, fingerprint width; 0 where the layout says it.
  std::uint32_t unit_bits = 0;
  /// Planned items of this layer and its share of the false positive rate.
  std::uint64_t capacity = 0;
  double fpr = 0;
  /// Inserts that changed something, as counted by the filter. Informative: verdicts never depend
  /// on it.
  std::uint64_t items = 0;
  /// Length of this layer's bits.
  std::uint64_t size_bytes = 0;

  friend bool operator==(const LayerShape&, const LayerShape&) noexcept = default;
};

struct FilterShape {
  Structure structure = Structure::bloom;
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::vector<LayerShape> layers;

  friend bool operator==(const FilterShape&, const FilterShape&) noexcept = default;
};

}  // namespace guestlist
