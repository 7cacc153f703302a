#pragma once

// A table of 15-bit fingerprints in buckets of four: it can delete, at 17 bits a key and a false
// positive rate of 0.023 % when full. Take it where keys come and go and a rebuild is not wanted;
// it cannot grow, and an insert into a full table fails.
//
// Deleting never hides another key that was inserted. Two keys may have the same fingerprint and
// the same buckets, and then the table cannot tell them apart. So the second insert of a
// fingerprint marks its slot as shared, and a shared slot is never deleted: the price is that a key
// which was inserted twice stays until the filter is rebuilt. Inserting is therefore idempotent,
// and replaying inserts takes no room. What remains is the caller's part: a key may be deleted only
// if it was inserted and not deleted since.
//
// A failed insert changes nothing: the free slot is searched first, breadth first, and keys are
// moved only along a path that ends in one, the last first, so that every key can be found at every
// moment.
//
// Cost: rows `guestlist-cuckoo` of filter_bench. Source: Fan, Andersen, Kaminsky, Mitzenmacher
// 2014; docs/maths/cuckoo.md. Distinct objects: safe. Shared objects: any number of readers, or one
// writer.

#include <cstdint>
#include <string_view>
#include <vector>

#include "guestlist/filter/filter_concept.hpp"

namespace guestlist {

class CuckooFilter {
 public:
  static constexpr std::uint32_t slots_per_bucket = 4;
  static constexpr std::uint32_t slot_bits = 16;
  /// Share of slots that can be filled with certainty enough to plan on.
  static constexpr double planned_load = 0.94;
  /// 2 buckets x 4 slots x planned load / 32767 fingerprints.
  static constexpr double full_fpr = 2.0 * slots_per_bucket * planned_load / 32767;

  /// The rate that the table has is full_fpr whatever is asked, as long as it is asked for no less.
  /// Errors: as check_items_and_fpr; `invalid_argument` for an fpr below full_fpr; `too_large`.
  static Result<CuckooFilter> make(std::uint64_t items, double fpr, const KeyHasher& hasher);
  static Result<CuckooFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                      std::vector<Storage> layers);
  /// Buckets that hold `items` at the planned load.
  static std::uint64_t buckets_for(std::uint64_t items) noexcept;

  bool may_contain(KeyHash hash) const noexcept;
  bool may_contain(std::string_view key) const noexcept { return may_contain(hasher_(key)); }

  const KeyHasher& hasher() const noexcept { return hasher_; }
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const { return {slots_.bytes()}; }
  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    const Place place = place_of(hash);
    visit(TouchedBytes{0, place.bucket * bucket_bytes, bucket_bytes});
    visit(TouchedBytes{0, place.other_bucket * bucket_bytes, bucket_bytes});
  }
  std::uint64_t size_bytes() const noexcept { return slots_.size_bytes(); }
  /// Share of slots in use.
  double fill() const noexcept;
  /// Distinct keys as far as fingerprints tell them apart.
  std::uint64_t approximate_count() const noexcept;
  double fpr_now() const noexcept;

  /// Whether a slot was taken; false where the fingerprint was there already.
  /// Errors: `full`; nothing changed then, and the key is not in the filter. Make the filter larger
  /// and build it again.
  Result<bool> insert(KeyHash hash);
  Result<bool> insert(std::string_view key) { return insert(hasher_(key)); }
  /// Whether a slot was freed; false where the key is not there or its slot is shared.
  /// Requires: the key was inserted and not removed since.
  bool remove(KeyHash hash) noexcept;
  bool remove(std::string_view key) noexcept { return remove(hasher_(key)); }
  /// Moves the other's fingerprints into this one. Errors: `mismatched`; `full`. Nothing changed
  /// then.
  Result<void> merge(const CuckooFilter& other);
  void clear() noexcept;

 private:
  using Slot = std::uint16_t;  ///< 0: free. Low 15 bits: fingerprint. High bit: shared.
  static constexpr std::uint64_t bucket_bytes = slots_per_bucket * slot_bits / 8;
  static constexpr Slot fingerprint_mask = 0x7FFF;
  static constexpr Slot shared_mark = 0x8000;

  struct Place {
    Slot fingerprint;
    std::uint64_t bucket;
    std::uint64_t other_bucket;
  };

  CuckooFilter(std::uint64_t buckets, std::uint64_t capacity, double fpr, const KeyHasher& hasher,
               Storage slots) noexcept
      : buckets_(buckets),
        capacity_(capacity),
        fpr_(fpr),
        hasher_(hasher),
        slots_(std::move(slots)) {}

  Place place_of(KeyHash hash) const noexcept;
  std::uint64_t other_bucket(std::uint64_t bucket, Slot fingerprint) const noexcept;
  bool bucket_has(std::uint64_t bucket, Slot fingerprint) const noexcept;
  Slot slot(std::uint64_t bucket, std::uint32_t index) const noexcept;
  void set_slot(std::uint64_t bucket, std::uint32_t index, Slot value) noexcept;
  bool mark_shared(const Place& place) noexcept;
  bool put_in_free_slot(std::uint64_t bucket, Slot value) noexcept;
  bool make_room_and_put(const Place& place, Slot value);
  Result<bool> put(const Place& place, Slot value);

  std::uint64_t buckets_;
  std::uint64_t capacity_;
  double fpr_;
  KeyHasher hasher_;
  Storage slots_;
  std::uint64_t items_ = 0;
};

static_assert(Filter<CuckooFilter>);

}  // namespace guestlist
