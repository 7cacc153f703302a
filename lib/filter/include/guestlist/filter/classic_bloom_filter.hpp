#pragma once

// The Bloom filter of the textbook: k bits anywhere in one array of m bits. It needs the fewest
// bits of all Bloom filters (9.6 a key at 1 %, where the native filter takes 10.1) and pays with up
// to k cache misses a query. Take it where every bit counts, or where m and k are given; else take
// BloomFilter.
//
// Cost: rows `guestlist-classic` of filter_bench. Source: Bloom 1970; docs/maths/classic.md.
// Distinct objects: safe. Shared objects: any number of readers, or one writer.

#include <string_view>
#include <vector>

#include "guestlist/filter/bit_array.hpp"
#include "guestlist/filter/classic_sizing.hpp"
#include "guestlist/filter/filter_concept.hpp"
#include "guestlist/filter/probe_sequence.hpp"

namespace guestlist {

class ClassicBloomFilter {
 public:
  static constexpr std::uint32_t max_probes = 64;

  /// Errors: as check_items_and_fpr; `too_large` where memory does not suffice.
  static Result<ClassicBloomFilter> make(std::uint64_t items, double fpr, const KeyHasher& hasher);
  /// With m and k from outside; capacity and fpr follow from them. Errors: `invalid_argument` for
  /// no bits, no probes or more than max_probes; `too_large`.
  static Result<ClassicBloomFilter> make(const ClassicSize& size, const KeyHasher& hasher);
  static Result<ClassicBloomFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                            std::vector<Storage> layers);

  bool may_contain(KeyHash hash) const noexcept {
    ProbeSequence probe(hash, bits_.bit_count());
    for (std::uint32_t i = 0; i < size_.probes; ++i) {
      if (!bits_.test(probe.next())) return false;
    }
    return true;
  }
  bool may_contain(std::string_view key) const noexcept { return may_contain(hasher_(key)); }

  const ClassicSize& size() const noexcept { return size_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const { return {bits_.storage().bytes()}; }
  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    ProbeSequence probe(hash, bits_.bit_count());
    for (std::uint32_t i = 0; i < size_.probes; ++i) visit(TouchedBytes{0, probe.next() >> 3, 1});
  }
  std::uint64_t size_bytes() const noexcept { return bits_.storage().size_bytes(); }
  double fill() const noexcept;
  std::uint64_t approximate_count() const noexcept;
  double fpr_now() const noexcept;

  /// Whether a bit changed.
  bool insert(KeyHash hash) noexcept;
  bool insert(std::string_view key) noexcept { return insert(hasher_(key)); }
  Result<void> merge(const ClassicBloomFilter& other);
  void clear() noexcept;

 private:
  ClassicBloomFilter(const ClassicSize& size, std::uint64_t capacity, double fpr,
                     const KeyHasher& hasher, BitArray bits) noexcept
      : size_(size), capacity_(capacity), fpr_(fpr), hasher_(hasher), bits_(std::move(bits)) {}

  ClassicSize size_;
  std::uint64_t capacity_;
  double fpr_;
  KeyHasher hasher_;
  BitArray bits_;
  std::uint64_t items_ = 0;
};

static_assert(Filter<ClassicBloomFilter>);

}  // namespace guestlist
