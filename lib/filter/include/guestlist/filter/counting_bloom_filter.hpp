#pragma once

// A Bloom filter of counters instead of bits, so that keys can be removed again. Counters are 4
// bits wide and saturate at 15: a saturated counter never goes down, because nobody knows any more
// how many keys it stands for. It takes four times the memory of ClassicBloomFilter; CuckooFilter
// removes keys at 17 bits a key.
//
// What removing promises: a key that was inserted as often as it was removed costs no other key
// anything. Removing a key that was never inserted is refused where the filter can tell, that is
// unless the key is a false positive; then it lowers counters of other keys, and one of them may be
// denied. Feed it removals from an exact source only, and never in a filter that decides
// rejections: there, forget by rebuilding.
//
// Cost: rows `guestlist-counting` of filter_bench. Source: Fan, Cao, Almeida, Broder 2000;
// docs/maths/counting.md. Distinct objects: safe. Shared objects: any number of readers, or one
// writer.

#include <string_view>
#include <vector>

#include "guestlist/filter/classic_sizing.hpp"
#include "guestlist/filter/filter_concept.hpp"
#include "guestlist/filter/probe_sequence.hpp"

namespace guestlist {

class CountingBloomFilter {
 public:
  static constexpr std::uint32_t counter_bits = 4;
  static constexpr unsigned saturated = (1U << counter_bits) - 1;

  /// Errors: as check_items_and_fpr; `too_large` where memory does not suffice.
  static Result<CountingBloomFilter> make(std::uint64_t items, double fpr, const KeyHasher& hasher);
  static Result<CountingBloomFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                             std::vector<Storage> layers);

  bool may_contain(KeyHash hash) const noexcept { return count(hash) > 0; }
  bool may_contain(std::string_view key) const noexcept { return may_contain(hasher_(key)); }
  /// At least how often the key was inserted, up to `saturated`, which means that often or more.
  unsigned count(KeyHash hash) const noexcept;
  unsigned count(std::string_view key) const noexcept { return count(hasher_(key)); }

  const KeyHasher& hasher() const noexcept { return hasher_; }
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const { return {counters_.bytes()}; }
  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    ProbeSequence probe(hash, size_.bits);
    for (std::uint32_t i = 0; i < size_.probes; ++i) visit(TouchedBytes{0, probe.next() >> 1, 1});
  }
  std::uint64_t size_bytes() const noexcept { return counters_.size_bytes(); }
  /// Share of counters above zero.
  double fill() const noexcept;
  /// Distinct keys.
  std::uint64_t approximate_count() const noexcept;
  double fpr_now() const noexcept;

  /// Counts the key once more. True: it was not there before.
  bool insert(KeyHash hash) noexcept;
  bool insert(std::string_view key) noexcept { return insert(hasher_(key)); }
  /// Takes back one insert. False: the key is certainly not there, and nothing changed.
  /// Requires: the key was inserted more often than removed; see above for what happens otherwise.
  bool remove(KeyHash hash) noexcept;
  bool remove(std::string_view key) noexcept { return remove(hasher_(key)); }
  /// The sum: as if all inserts had gone into one filter.
  Result<void> merge(const CountingBloomFilter& other);
  void clear() noexcept;

 private:
  CountingBloomFilter(const ClassicSize& size, std::uint64_t capacity, double fpr,
                      const KeyHasher& hasher, Storage counters) noexcept
      : size_(size),
        capacity_(capacity),
        fpr_(fpr),
        hasher_(hasher),
        counters_(std::move(counters)) {}
  unsigned counter(std::uint64_t index) const noexcept;
  void set_counter(std::uint64_t index, unsigned value) noexcept;
  std::uint64_t counters_in_use() const noexcept;

  ClassicSize size_;  ///< bits: the number of counters
  std::uint64_t capacity_;
  double fpr_;
  KeyHasher hasher_;
  Storage counters_;  ///< counter i: the low half of byte i / 2 where i is even, else the high half
  std::uint64_t items_ = 0;
};

static_assert(Filter<CountingBloomFilter>);

}  // namespace guestlist
