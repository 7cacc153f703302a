#pragma once

// A filter whose structure is known only when the program runs: what a file holds, what a command
// works on. It is itself a Filter, and costs one indirect jump a call; use the batch calls where
// there are many keys, and the structure's own class where it is known.
//
// Distinct objects: safe. Shared objects: any number of readers, or one writer.

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/filter/classic_bloom_filter.hpp"
#include "guestlist/filter/counting_bloom_filter.hpp"
#include "guestlist/filter/cuckoo_filter.hpp"
#include "guestlist/filter/filter_concept.hpp"
#include "guestlist/filter/scalable_bloom_filter.hpp"

namespace guestlist {

/// Compares names only: clang 14 cannot ask whether a variant is constructible while it completes
/// the class that holds it.
template <class F, class Variant>
inline constexpr bool is_alternative = false;
template <class F, class... Structures>
inline constexpr bool is_alternative<F, std::variant<Structures...>> =
    (std::same_as<F, Structures> || ...);

class AnyFilter {
 public:
  using Variant = std::variant<BloomFilter, ClassicBloomFilter, CountingBloomFilter,
                               ScalableBloomFilter, CuckooFilter>;

  /// Around bits that exist, as the structure that `shape` names.
  /// Errors: `corrupt` where the shape is impossible or does not fit the layers.
  static Result<AnyFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                   std::vector<Storage> layers);

  template <class F>
  requires is_alternative<F, Variant>
  // NOLINTNEXTLINE(google-explicit-constructor): every structure is an AnyFilter.
  AnyFilter(F filter) : filter_(std::in_place_type<F>, std::move(filter)) {}

  /// The structure itself, for what only it can do (std::visit, std::get_if).
  const Variant& variant() const noexcept { return filter_; }
  Variant& variant() noexcept { return filter_; }

  bool may_contain(KeyHash hash) const;
  bool may_contain(std::string_view key) const { return may_contain(hasher()(key)); }
  /// Requires: `out` has the length of `hashes`.
  void may_contain_many(std::span<const KeyHash> hashes, std::span<bool> out) const;

  const KeyHasher& hasher() const;
  FilterShape shape() const;
  std::vector<ByteView> layer_bytes() const;
  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    std::visit([&](const auto& filter) { filter.for_each_touched(hash, visit); }, filter_);
  }
  std::uint64_t size_bytes() const;
  double fill() const;
  std::uint64_t approximate_count() const;
  double fpr_now() const;

  /// Whether anything changed. Errors: `full`, for a structure of fixed capacity; `too_large`,
  /// where one that grows finds no memory.
  Result<bool> insert(KeyHash hash);
  Result<bool> insert(std::string_view key) { return insert(hasher()(key)); }
  /// How many changed anything. Errors: `full`; the keys before the one that found no room are in
  /// then.
  Result<std::uint64_t> insert_many(std::span<const KeyHash> hashes);
  /// The union. Errors: `mismatched`, with what differs; nothing changed then.
  Result<void> merge(const AnyFilter& other);
  void clear();

 private:
  Variant filter_;
};

static_assert(Filter<AnyFilter>);

}  // namespace guestlist
