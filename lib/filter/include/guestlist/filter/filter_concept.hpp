#pragma once

// What all filters have in common, as a concept: the law suite of filter_test is written against
// it, and filter files store whatever satisfies it. See filter/README.md for how to add one.

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/filter/filter_shape.hpp"
#include "guestlist/filter/storage.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

/// Bytes of a layer that a query of one key may read.
struct TouchedBytes {
  std::size_t layer = 0;
  std::uint64_t offset = 0;  ///< bytes from the layer's start
  std::uint64_t length = 0;  ///< bytes
};

template <class F>
concept Filter = std::copyable<F> &&
    requires(F filter, const F& same, KeyHash hash, std::string_view key, const FilterShape& shape,
             std::vector<Storage> layers, void (*visit)(TouchedBytes)) {
  // `insert` says whether anything changed; false also where the key was a false positive before.
  // It is bool, or Result<bool> for a structure that can run full.
  filter.insert(hash);
  filter.insert(key);
  { same.may_contain(hash) } -> std::same_as<bool>;
  { same.may_contain(key) } -> std::same_as<bool>;
  { same.hasher() } -> std::same_as<const KeyHasher&>;
  { same.shape() } -> std::same_as<FilterShape>;
  /// The bytes of each layer, in the order of the shape.
  { same.layer_bytes() } -> std::same_as<std::vector<ByteView>>;
  /// Calls `visit` for all bytes that may_contain(hash) may read.
  same.for_each_touched(hash, visit);
  { same.size_bytes() } -> std::same_as<std::uint64_t>;
  /// Share of bits set (counters or slots in use), 0 to 1.
  { same.fill() } -> std::same_as<double>;
  { same.approximate_count() } -> std::same_as<std::uint64_t>;
  /// The false positive rate at the present fill, not the asked one.
  { same.fpr_now() } -> std::same_as<double>;
  /// The union. Errors: `mismatched`, with what differs; nothing changed then.
  { filter.merge(same) } -> std::same_as<Result<void>>;
  filter.clear();
  /// Around bits that exist. Errors: `corrupt` where the shape is impossible or does not fit the
  /// bytes.
  { F::restore(shape, same.hasher(), std::move(layers)) } -> std::same_as<Result<F>>;
};

}  // namespace guestlist
