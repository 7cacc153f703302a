#pragma once

// A set of 64-bit integers within one process: the bits of BloomFilter under the cheap
// IntegerHasher instead of a hash of text. Its own type, so that an integer and its decimal text,
// which hash differently, cannot meet in one filter; never written to files or shared, for the same
// reason. The seed keeps others from crafting false positives only as long as it is unknown, and
// the hash is not a keyed one: where attackers choose the keys, use BloomFilter with siphash.
//
// IntegerBloomFilter takes its layout from the plan. Where single calls are hot and the layout is
// known, FixedIntegerBloomFilter<SplitBlock> has it in its type, and asks for it at no call
// (docs/decisions/0101-layout-in-the-type.md).
//
// Cost: as BloomFilter, and some tenths of a nanosecond to hash; batches hash eight keys at a time.
//
// Distinct objects: safe. Shared objects: as BlockArray.

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_array.hpp"
#include "guestlist/filter/filter_plan.hpp"
#include "guestlist/hash/integer_hash.hpp"

namespace guestlist {

/// The layout that the plan has.
struct PlannedLayout {};

template <class Layout>
class BasicIntegerBloomFilter {
 public:
  /// Empty. Errors: `too_large` where the machine has not that much memory; `mismatched` where the
  /// plan is for another layout than the type.
  static Result<BasicIntegerBloomFilter> make(const FilterPlan& plan, const IntegerHasher& hasher);

  const IntegerHasher& hasher() const noexcept { return hasher_; }
  BlockLayout layout() const noexcept { return bits_.layout(); }
  std::uint64_t size_bytes() const noexcept { return bits_.size_bytes(); }

  [[gnu::always_inline]] bool may_contain(std::uint64_t key) const noexcept {
    if constexpr (std::is_same_v<Layout, PlannedLayout>) {
      return bits_.may_contain(hasher_(key));
    } else {
      return bits_.template may_contain_in<Layout>(hasher_(key));
    }
  }
  /// `found[i]` answers for `keys[i]`. Requires: spans of one size.
  void may_contain_many(std::span<const std::uint64_t> keys, std::span<bool> found) const noexcept {
    bits_.may_contain_integers(hasher_.seed, keys, found);
  }

  /// Whether anything changed: false for a key that was inserted before, and for a false positive.
  [[gnu::always_inline]] bool insert(std::uint64_t key) noexcept {
    if constexpr (std::is_same_v<Layout, PlannedLayout>) {
      return bits_.insert(hasher_(key));
    } else {
      return bits_.template insert_in<Layout>(hasher_(key));
    }
  }
  /// How many changed something.
  std::uint64_t insert_many(std::span<const std::uint64_t> keys) noexcept {
    return bits_.insert_integers(hasher_.seed, keys);
  }
  /// As insert, beside other threads that call the same; lock-free.
  bool insert_concurrently(std::uint64_t key) noexcept {
    return bits_.insert_concurrently(hasher_(key));
  }

  /// The union. Errors: `mismatched` for another layout, size or seed; nothing changed then.
  Result<void> merge(const BasicIntegerBloomFilter& other);
  void clear() noexcept { bits_.clear(); }

  double fill() const noexcept { return bits_.fill(); }
  std::uint64_t approximate_count() const noexcept { return bits_.approximate_count(); }
  double fpr_now() const noexcept { return bits_.fpr_now(); }

 private:
  BasicIntegerBloomFilter(BlockArray bits, const IntegerHasher& hasher) noexcept
      : bits_(std::move(bits)), hasher_(hasher) {}

  BlockArray bits_;
  IntegerHasher hasher_;
};

using IntegerBloomFilter = BasicIntegerBloomFilter<PlannedLayout>;

template <class Layout>
using FixedIntegerBloomFilter = BasicIntegerBloomFilter<Layout>;

}  // namespace guestlist
