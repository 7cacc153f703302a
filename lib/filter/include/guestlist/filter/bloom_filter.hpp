#pragma once

// The native filter: keys that were inserted are always found; others are found with a probability
// that was chosen when it was planned. Use it for sets that only grow, or that are rebuilt beside
// themselves. Where keys are deleted see CuckooFilter, where the number of keys is unknown
// ScalableBloomFilter, for 64-bit integers in one process IntegerBloomFilter.
//
//   auto plan = FilterPlan::make(1'000'000, 0.01);
//   auto filter = BloomFilter::make(*plan, KeyHasher::siphash(Secret::random()));
//   filter->insert("amber");
//   filter->may_contain("amber");  // true, always
//
// Cost: 10.1 bits a key at 1 %, 15.7 at 0.1 %; one cache line a query, plus the hash (hash_bench).
// Batches overlap their cache misses; docs/benchmarks.md has the times.
//
// Distinct objects: safe. Shared objects: queries from any thread, beside either one thread that
// inserts, or any number that call insert_concurrently; never beside merge, clear or assignment.

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_array.hpp"
#include "guestlist/filter/filter_concept.hpp"
#include "guestlist/filter/filter_plan.hpp"
#include "guestlist/filter/filter_shape.hpp"
#include "guestlist/filter/insert_counter.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

class BloomFilter {
 public:
  /// Empty. Errors: `too_large` where the machine has not that much memory.
  static Result<BloomFilter> make(const FilterPlan& plan, const KeyHasher& hasher);

  /// Around bits that exist; read only where they are a view. Errors: `corrupt` where the shape is
  /// impossible or does not fit the bytes.
  static Result<BloomFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                     std::vector<Storage> layers);

  const KeyHasher& hasher() const noexcept { return hasher_; }
  BlockLayout layout() const noexcept { return bits_.layout(); }
  std::uint64_t block_count() const noexcept { return bits_.block_count(); }
  std::uint64_t capacity() const noexcept { return capacity_; }
  /// As asked for when planned.
  double fpr() const noexcept { return fpr_; }
  std::uint64_t size_bytes() const noexcept { return bits_.size_bytes(); }
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const { return {bits_.bytes()}; }

  [[gnu::always_inline]] bool may_contain(KeyHash hash) const noexcept {
    return bits_.may_contain(hash);
  }
  bool may_contain(std::string_view key) const noexcept { return may_contain(hasher_(key)); }
  /// `found[i]` answers for the i-th key. Requires: spans of one size.
  void may_contain_many(std::span<const KeyHash> hashes, std::span<bool> found) const noexcept {
    bits_.may_contain_many(hashes, found);
  }
  void may_contain_many(std::span<const std::string_view> keys,
                        std::span<bool> found) const noexcept;

  /// Whether anything changed: false for a key that was inserted before, and for a false positive.
  /// Requires, as all that write: the bits are owned, not a view on a file.
  [[gnu::always_inline]] bool insert(KeyHash hash) noexcept {
    const bool changed = bits_.insert(hash);
    inserted_.add(changed ? 1 : 0);
    return changed;
  }
  bool insert(std::string_view key) noexcept { return insert(hasher_(key)); }
  /// How many changed something.
  std::uint64_t insert_many(std::span<const KeyHash> hashes) noexcept;
  std::uint64_t insert_many(std::span<const std::string_view> keys) noexcept;
  /// As insert, beside other threads that call the same; lock-free.
  bool insert_concurrently(KeyHash hash) noexcept;
  bool insert_concurrently(std::string_view key) noexcept {
    return insert_concurrently(hasher_(key));
  }

  /// A copy beside threads that call insert_concurrently: it has every key whose insert had
  /// returned. Errors: `too_large`.
  Result<BloomFilter> copy_beside_inserts() const;

  /// The union. Errors: `mismatched` for another layout, size or hasher; nothing changed then.
  Result<void> merge(const BloomFilter& other);
  void clear() noexcept;

  double fill() const noexcept { return bits_.fill(); }
  std::uint64_t approximate_count() const noexcept { return bits_.approximate_count(); }
  double fpr_now() const noexcept { return bits_.fpr_now(); }

  template <class Visit>
  void for_each_touched(KeyHash hash, Visit visit) const {
    visit(TouchedBytes{0, bits_.block_offset(hash), block_bytes(bits_.layout())});
  }

 private:
  BloomFilter(BlockArray bits, const KeyHasher& hasher, std::uint64_t capacity, double fpr) noexcept
      : bits_(std::move(bits)), hasher_(hasher), capacity_(capacity), fpr_(fpr) {}

  BlockArray bits_;
  KeyHasher hasher_;
  std::uint64_t capacity_;
  double fpr_;
  InsertCounter inserted_;
};

static_assert(Filter<BloomFilter>);

}  // namespace guestlist
