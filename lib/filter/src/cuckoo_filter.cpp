#include "guestlist/filter/cuckoo_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "guestlist/base/units.hpp"
#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t every_lane = 0x0001000100010001;
constexpr std::uint64_t every_high_bit = every_lane << 15;

// Buckets that a search for a free slot looks at before it gives up. Paths of five moves reach
// 1,364 buckets; at the planned load the search ends within a few dozen.
constexpr std::size_t max_buckets_searched = 2048;

constexpr std::uint64_t scale(std::uint64_t hash, std::uint64_t range) noexcept {
  return static_cast<std::uint64_t>(static_cast<Wide>(hash) * range >> 64);
}

constexpr std::uint64_t storage_bytes(std::uint64_t buckets) noexcept {
  return (buckets + 7) / 8 * 64;
}

/// One bucket on a search's way: how it was reached, to walk back.
struct Step {
  std::uint64_t bucket;
  std::size_t parent;
  std::uint32_t slot_in_parent;
};

constexpr std::size_t no_parent = ~std::size_t{0};

}  // namespace

std::uint64_t CuckooFilter::buckets_for(std::uint64_t items) noexcept {
  // Small tables fill less evenly: two standard deviations of slack, which a large table does not
  // notice.
  const double buckets = static_cast<double>(items) / (slots_per_bucket * planned_load);
  return static_cast<std::uint64_t>(std::ceil(buckets + 2 * std::sqrt(buckets))) + 1;
}

Result<CuckooFilter> CuckooFilter::make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
  if (auto valid = check_items_and_fpr(items, fpr); !valid) return fail(std::move(valid).error());
  if (fpr < full_fpr) {
    return fail(Errc::invalid_argument,
                "a cuckoo filter of 16-bit slots has an fpr of 0.00023 when full; ask for no "
                "less, or take a Bloom filter");
  }
  const std::uint64_t buckets = buckets_for(items);
  auto slots = Storage::allocate(storage_bytes(buckets));
  if (!slots) return fail(std::move(slots).error());
  return CuckooFilter(buckets, items, fpr, hasher, std::move(*slots));
}

Result<CuckooFilter> CuckooFilter::restore(const FilterShape& shape, const KeyHasher& hasher,
                                           std::vector<Storage> layers) {
  if (shape.structure != Structure::cuckoo || shape.layers.size() != 1 || layers.size() != 1) {
    return fail(Errc::corrupt, "not the shape of a cuckoo filter");
  }
  const LayerShape& layer = shape.layers.front();
  const bool possible = layer.layout == 0 && layer.units > 0 &&
                        layer.units <= layers.front().size_bytes() &&
                        layer.probes == slots_per_bucket && layer.unit_bits == slot_bits &&
                        layer.size_bytes == layers.front().size_bytes() &&
                        layers.front().size_bytes() == storage_bytes(layer.units);
  if (!possible) return fail(Errc::corrupt, "the buckets do not fit the length of the filter");
  CuckooFilter filter(layer.units, shape.capacity, shape.fpr, hasher, std::move(layers.front()));
  filter.items_ = layer.items;
  return filter;
}

CuckooFilter::Place CuckooFilter::place_of(KeyHash hash) const noexcept {
  // The bucket comes from the hash's high bits, the fingerprint from its low ones. 0 means a free
  // slot.
  const auto low = static_cast<Slot>(hash.value & fingerprint_mask);
  const Slot fingerprint = low == 0 ? Slot{1} : low;
  const std::uint64_t bucket = scale(hash.value, buckets_);
  return {fingerprint, bucket, other_bucket(bucket, fingerprint)};
}

// other = (H(fingerprint) - bucket) mod buckets: its own inverse for any number of buckets.
std::uint64_t CuckooFilter::other_bucket(std::uint64_t bucket, Slot fingerprint) const noexcept {
  std::uint64_t mixed = fingerprint * 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93;
  const std::uint64_t sum = scale(mixed, buckets_);
  return sum >= bucket ? sum - bucket : sum + buckets_ - bucket;
}

CuckooFilter::Slot CuckooFilter::slot(std::uint64_t bucket, std::uint32_t index) const noexcept {
  return load_little_endian<Slot>(slots_.data() + bucket * bucket_bytes + index * sizeof(Slot));
}

void CuckooFilter::set_slot(std::uint64_t bucket, std::uint32_t index, Slot value) noexcept {
  store_little_endian(slots_.mutable_data() + bucket * bucket_bytes + index * sizeof(Slot), value);
}

// All four slots at once: a lane of `difference` is zero where the fingerprint matches.
bool CuckooFilter::bucket_has(std::uint64_t bucket, Slot fingerprint) const noexcept {
  const auto slots = load_little_endian<std::uint64_t>(slots_.data() + bucket * bucket_bytes);
  const std::uint64_t difference = (slots & ~every_high_bit) ^ fingerprint * every_lane;
  return ((difference - every_lane) & ~difference & every_high_bit) != 0;
}

bool CuckooFilter::may_contain(KeyHash hash) const noexcept {
  const Place place = place_of(hash);
  // Not a branch: both buckets are fetched at once.
  return static_cast<int>(bucket_has(place.bucket, place.fingerprint)) |
         static_cast<int>(bucket_has(place.other_bucket, place.fingerprint));
}

FilterShape CuckooFilter::shape() const {
  LayerShape layer;
  layer.probes = slots_per_bucket;
  layer.units = buckets_;
  layer.unit_bits = slot_bits;
  layer.capacity = capacity_;
  layer.fpr = fpr_;
  layer.items = items_;
  layer.size_bytes = size_bytes();
  return {Structure::cuckoo, capacity_, fpr_, {layer}};
}

double CuckooFilter::fill() const noexcept {
  return static_cast<double>(approximate_count()) /
         static_cast<double>(buckets_ * slots_per_bucket);
}

std::uint64_t CuckooFilter::approximate_count() const noexcept {
  std::uint64_t in_use = 0;
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    for (std::uint32_t index = 0; index < slots_per_bucket; ++index)
      in_use += slot(bucket, index) != 0;
  }
  return in_use;
}

double CuckooFilter::fpr_now() const noexcept {
  return 1 - std::pow(1 - 1.0 / fingerprint_mask, 2.0 * slots_per_bucket * fill());
}

bool CuckooFilter::mark_shared(const Place& place) noexcept {
  for (const std::uint64_t bucket : {place.bucket, place.other_bucket}) {
    for (std::uint32_t index = 0; index < slots_per_bucket; ++index) {
      const Slot value = slot(bucket, index);
      if ((value & fingerprint_mask) != place.fingerprint) continue;
      set_slot(bucket, index, value | shared_mark);
      return true;
    }
  }
  return false;
}

bool CuckooFilter::put_in_free_slot(std::uint64_t bucket, Slot value) noexcept {
  for (std::uint32_t index = 0; index < slots_per_bucket; ++index) {
    if (slot(bucket, index) != 0) continue;
    set_slot(bucket, index, value);
    return true;
  }
  return false;
}

bool CuckooFilter::make_room_and_put(const Place& place, Slot value) {
  std::vector<Step> steps = {{place.bucket, no_parent, 0}, {place.other_bucket, no_parent, 0}};
  const auto on_path = [&](std::size_t at, std::uint64_t bucket) {
    for (; at != no_parent; at = steps[at].parent) {
      if (steps[at].bucket == bucket) return true;
    }
    return false;
  };
  for (std::size_t at = 0; at < steps.size() && steps.size() < max_buckets_searched; ++at) {
    const std::uint64_t bucket = steps[at].bucket;
    for (std::uint32_t index = 0; index < slots_per_bucket; ++index) {
      const Slot moving = slot(bucket, index);
      const std::uint64_t target = other_bucket(bucket, moving & fingerprint_mask);
      // A bucket may stand only once on a path, or the moves would overwrite each other.
      if (on_path(at, target)) continue;
      if (!put_in_free_slot(target, moving)) {
        steps.push_back({target, at, index});
        continue;
      }
      // Walk back: each slot that was copied onwards takes what comes from the bucket before it.
      std::size_t free_in = at;
      std::uint32_t free_index = index;
      while (steps[free_in].parent != no_parent) {
        const Step& step = steps[free_in];
        set_slot(step.bucket, free_index, slot(steps[step.parent].bucket, step.slot_in_parent));
        free_index = step.slot_in_parent;
        free_in = step.parent;
      }
      set_slot(steps[free_in].bucket, free_index, value);
      return true;
    }
  }
  return false;
}

Result<bool> CuckooFilter::put(const Place& place, Slot value) {
  if (mark_shared(place)) return false;
  const bool placed = put_in_free_slot(place.bucket, value) ||
                      put_in_free_slot(place.other_bucket, value) ||
                      make_room_and_put(place, value);
  if (!placed) {
    return fail(Errc::full, "the cuckoo filter is full at " + format_count(items_) + " of " +
                                format_count(capacity_) +
                                " planned items; build it again with more");
  }
  ++items_;
  return true;
}

Result<bool> CuckooFilter::insert(KeyHash hash) {
  const Place place = place_of(hash);
  return put(place, place.fingerprint);
}

bool CuckooFilter::remove(KeyHash hash) noexcept {
  const Place place = place_of(hash);
  for (const std::uint64_t bucket : {place.bucket, place.other_bucket}) {
    for (std::uint32_t index = 0; index < slots_per_bucket; ++index) {
      if (slot(bucket, index) != place.fingerprint) continue;
      set_slot(bucket, index, 0);
      if (items_ > 0) --items_;
      return true;
    }
  }
  return false;
}

Result<void> CuckooFilter::merge(const CuckooFilter& other) {
  if (buckets_ != other.buckets_) {
    return fail(Errc::mismatched, "the filters have " + std::to_string(buckets_) + " and " +
                                      std::to_string(other.buckets_) + " buckets");
  }
  if (hasher_ != other.hasher_) return fail(Errc::mismatched, "the filters have different secrets");
  CuckooFilter merged = *this;
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    for (std::uint32_t index = 0; index < slots_per_bucket; ++index) {
      const Slot value = other.slot(bucket, index);
      if (value == 0) continue;
      const Slot fingerprint = value & fingerprint_mask;
      auto placed = merged.put({fingerprint, bucket, other_bucket(bucket, fingerprint)}, value);
      if (!placed) return fail(std::move(placed).error());
    }
  }
  *this = std::move(merged);
  return {};
}

void CuckooFilter::clear() noexcept {
  std::memset(slots_.mutable_data(), 0, slots_.size_bytes());
  items_ = 0;
}

}  // namespace guestlist
