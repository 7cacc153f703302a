#pragma once

// What every filter promises, each law as a function that says whether a kind of filter keeps it.
// The functions assert nothing themselves, so that filter_laws_test.cpp can also show that each of
// them fails for a filter that is broken on purpose.
//
// A kind is a type with `Filter`, `make(items, fpr, hasher)` and `rate(fpr)`, the false positive
// rate that the structure promises where `fpr` is asked. Keys are random hashes from stated seeds;
// statistics allow 5 standard deviations of the binomial distribution.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "guestlist/filter/filter_concept.hpp"
#include "random_hashes.hpp"

namespace guestlist::laws {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

template <class K>
concept Kind = Filter<typename K::Filter> &&
    requires(std::uint64_t items, double fpr, const KeyHasher& hasher) {
  { K::make(items, fpr, hasher) } -> std::same_as<typename K::Filter>;
  { K::rate(fpr) } -> std::same_as<double>;
};

inline KeyHasher any_hasher() {
  return KeyHasher::xxh3(Secret());
}

/// Whether the insert changed anything. A law never fills a filter over its capacity.
template <class F>
bool insert(F& filter, KeyHash hash) {
  if constexpr (std::same_as<decltype(filter.insert(hash)), bool>) {
    return filter.insert(hash);
  } else {
    return filter.insert(hash).value();
  }
}

template <class F>
void insert_all(F& filter, std::span<const KeyHash> hashes) {
  for (const KeyHash hash : hashes) insert(filter, hash);
}

template <class F>
std::uint64_t count_found(const F& filter, std::span<const KeyHash> hashes) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(hashes, [&](KeyHash hash) { return filter.may_contain(hash); }));
}

template <class F>
std::vector<std::string> bits_of(const F& filter) {
  std::vector<std::string> bits;
  for (const ByteView layer : filter.layer_bytes()) bits.emplace_back(as_text(layer));
  return bits;
}

inline std::vector<Storage> storage_of(std::span<const std::string> bits) {
  std::vector<Storage> layers;
  for (const std::string& layer : bits) {
    Storage& storage = layers.emplace_back(Storage::allocate(layer.size()).value());
    std::memcpy(storage.mutable_data(), layer.data(), layer.size());
  }
  return layers;
}

template <class F>
AssertionResult answer_alike(const F& one, const F& other, std::span<const KeyHash> hashes) {
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (one.may_contain(hashes[i]) != other.may_contain(hashes[i]))
      return AssertionFailure() << "the answers for hash " << hashes[i].value << " differ";
  }
  return AssertionSuccess();
}

template <Kind K>
AssertionResult denies_no_inserted_key(std::uint64_t items) {
  const auto hashes = random_hashes(items, 21);
  auto filter = K::make(items, 0.01, any_hasher());
  insert_all(filter, hashes);
  const std::uint64_t denied = items - count_found(filter, hashes);
  if (denied == 0) return AssertionSuccess();
  return AssertionFailure() << denied << " of " << items << " keys are denied, seed 21";
}

/// Both that the rate is not above the one promised, and that fpr_now() knows it: within 5 standard
/// deviations, and 1 % for the filters' own randomness.
template <Kind K>
AssertionResult keeps_its_rate(std::uint64_t items, std::uint64_t probes, double fpr) {
  auto filter = K::make(items, fpr, any_hasher());
  insert_all(filter, random_hashes(items, 22));
  const auto n = static_cast<double>(probes);
  const auto found = static_cast<double>(count_found(filter, random_hashes(probes, 23)));
  const auto deviations = [&](double p) { return 5 * std::sqrt(n * p * (1 - p)); };
  const double promised = K::rate(fpr);
  const double predicted = filter.fpr_now();
  if (found > n * promised + deviations(promised)) {
    return AssertionFailure() << found << " of " << probes << " absent keys are found where "
                              << n * promised << " are promised, seeds 22 and 23";
  }
  if (std::abs(found - n * predicted) > deviations(predicted) + n * predicted / 100) {
    return AssertionFailure() << found << " of " << probes << " absent keys are found where "
                              << n * predicted << " were predicted, seeds 22 and 23";
  }
  return AssertionSuccess();
}

template <Kind K>
AssertionResult inserting_twice_is_inserting_once(std::uint64_t items) {
  const auto hashes = random_hashes(items, 24);
  auto once = K::make(items, 0.01, any_hasher());
  insert_all(once, hashes);
  auto twice = once;
  for (const KeyHash hash : hashes) {
    if (insert(twice, hash))
      return AssertionFailure() << "the second insert of hash " << hash.value
                                << " changed something";
  }
  if (once.approximate_count() != twice.approximate_count())
    return AssertionFailure() << "keys are counted again";
  return answer_alike(once, twice, random_hashes(10 * items, 25));
}

/// A key that one of two filters may contain, their union may contain.
template <Kind K>
AssertionResult merging_keeps_the_keys_of_both(std::uint64_t items) {
  const auto hashes = random_hashes(items, 26);
  auto one = K::make(items, 0.01, any_hasher());
  auto other = one;
  insert_all(one, std::span(hashes).first(items / 2));
  insert_all(other, std::span(hashes).subspan(items / 2));
  auto merged = one;
  if (const auto done = merged.merge(other); !done)
    return AssertionFailure() << done.error().message();
  for (const KeyHash hash : random_hashes(10 * items, 27)) {
    if ((one.may_contain(hash) || other.may_contain(hash)) && !merged.may_contain(hash))
      return AssertionFailure() << "the union denies hash " << hash.value;
  }
  if (count_found(merged, hashes) != items) return AssertionFailure() << "the union denies keys";
  return AssertionSuccess();
}

/// More than the law before: the union is no worse than a filter that was built from all keys.
template <Kind K>
AssertionResult merging_is_inserting_both(std::uint64_t items) {
  const auto hashes = random_hashes(items, 26);
  auto all = K::make(items, 0.01, any_hasher());
  auto one = all;
  auto other = all;
  insert_all(all, hashes);
  insert_all(one, std::span(hashes).first(items / 2));
  insert_all(other, std::span(hashes).subspan(items / 2));
  if (const auto done = one.merge(other); !done)
    return AssertionFailure() << done.error().message();
  if (const auto alike = answer_alike(all, one, hashes); !alike) return alike;
  return answer_alike(all, one, random_hashes(10 * items, 27));
}

template <class F>
AssertionResult is_refused_and_changes_nothing(const F& filter, const F& unlike) {
  F into = filter;
  const auto merged = into.merge(unlike);
  if (merged) return AssertionFailure() << "filters that are unlike were merged";
  if (merged.error().code != Errc::mismatched)
    return AssertionFailure() << "refused as " << merged.error().message();
  if (into.shape() != filter.shape() || bits_of(into) != bits_of(filter))
    return AssertionFailure() << "a refused merge changed the filter";
  return AssertionSuccess();
}

template <Kind K>
AssertionResult is_restored_from_shape_and_bytes(std::uint64_t items) {
  const auto hashes = random_hashes(items, 28);
  auto filter = K::make(items, 0.01, any_hasher());
  insert_all(filter, hashes);
  const auto restored =
      K::Filter::restore(filter.shape(), filter.hasher(), storage_of(bits_of(filter)));
  if (!restored) return AssertionFailure() << restored.error().message();
  if (restored->shape() != filter.shape()) return AssertionFailure() << "the shapes differ";
  if (const auto alike = answer_alike(filter, *restored, hashes); !alike) return alike;
  return answer_alike(filter, *restored, random_hashes(10 * items, 29));
}

template <Kind K>
AssertionResult copies_are_independent(std::uint64_t items) {
  auto filter = K::make(items, 0.01, any_hasher());
  const auto copy = filter;
  insert_all(filter, random_hashes(items, 30));
  if (copy.approximate_count() != 0) return AssertionFailure() << "a copy changed";
  const auto before = bits_of(filter);
  auto cleared = filter;
  cleared.clear();
  if (bits_of(filter) != before) return AssertionFailure() << "clearing a copy changed the filter";
  return AssertionSuccess();
}

template <Kind K>
AssertionResult clearing_empties(std::uint64_t items) {
  auto filter = K::make(items, 0.01, any_hasher());
  const auto empty = bits_of(filter);
  const auto shape = filter.shape();
  const auto hashes = random_hashes(items, 31);
  insert_all(filter, hashes);
  filter.clear();
  if (filter.shape() != shape) return AssertionFailure() << "the shape is not that of a new filter";
  if (bits_of(filter) != empty || filter.fill() != 0 || filter.approximate_count() != 0)
    return AssertionFailure() << "something is left";
  insert_all(filter, hashes);
  if (count_found(filter, hashes) != items)
    return AssertionFailure() << "a cleared filter denies new keys";
  return AssertionSuccess();
}

template <Kind K>
AssertionResult tells_its_size(std::uint64_t items) {
  auto filter = K::make(items, 0.01, any_hasher());
  insert_all(filter, random_hashes(items, 32));
  const auto layers = filter.layer_bytes();
  const auto shape = filter.shape();
  if (layers.size() != shape.layers.size()) return AssertionFailure() << "a layer is missing";
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].size() != shape.layers[i].size_bytes)
      return AssertionFailure() << "layer " << i << " has another size than its shape";
    sum += layers[i].size();
  }
  if (sum != filter.size_bytes()) return AssertionFailure() << "the sizes do not add up";
  const auto count = static_cast<double>(filter.approximate_count());
  if (std::abs(count - static_cast<double>(items)) > 0.05 * static_cast<double>(items))
    return AssertionFailure() << items << " keys are counted as " << count;
  return AssertionSuccess();
}

/// Whatever stands in all other bytes, the answer comes from those that for_each_touched names.
template <Kind K>
AssertionResult reads_only_what_it_says_it_touches(std::uint64_t items) {
  auto filter = K::make(items, 0.01, any_hasher());
  const auto inserted = random_hashes(items, 33);
  insert_all(filter, inserted);
  auto hashes = random_hashes(50, 34);
  hashes.insert(hashes.end(), inserted.begin(), inserted.begin() + 50);
  const auto bits = bits_of(filter);
  for (const KeyHash hash : hashes) {
    for (const char elsewhere : {'\x00', '\xFF'}) {
      std::vector<std::string> others;
      for (const std::string& layer : bits) others.emplace_back(layer.size(), elsewhere);
      filter.for_each_touched(hash, [&](TouchedBytes touched) {
        others.at(touched.layer)
            .replace(touched.offset, touched.length, bits[touched.layer], touched.offset,
                     touched.length);
      });
      const auto changed = K::Filter::restore(filter.shape(), filter.hasher(), storage_of(others));
      if (!changed) return AssertionFailure() << changed.error().message();
      if (changed->may_contain(hash) != filter.may_contain(hash))
        return AssertionFailure() << "the answer for hash " << hash.value
                                  << " comes from bytes that were not named";
    }
  }
  return AssertionSuccess();
}

/// Half of the keys are removed again; the table is small, so that many collide.
template <Kind K>
AssertionResult deleting_never_hides_another_key(std::uint64_t items) {
  const auto hashes = random_hashes(items, 35);
  auto filter = K::make(items, 0.01, any_hasher());
  insert_all(filter, hashes);
  for (const KeyHash hash : std::span(hashes).first(items / 2)) filter.remove(hash);
  const auto kept = std::span(hashes).subspan(items / 2);
  const std::uint64_t hidden = kept.size() - count_found(filter, kept);
  if (hidden == 0) return AssertionSuccess();
  return AssertionFailure() << hidden << " of " << kept.size() << " keys are hidden, seed 35";
}

/// Uses a filter of a shape that nobody vouches for. It may answer anything, and must be refused or
/// stay within its bytes (AddressSanitizer watches).
template <class F>
void use_if_restored(const FilterShape& shape, const F& filter) {
  auto restored = F::restore(shape, filter.hasher(), storage_of(bits_of(filter)));
  if (!restored) {
    EXPECT_EQ(restored.error().code, Errc::corrupt);
    return;
  }
  for (const KeyHash hash : random_hashes(200, 36)) {
    (void)restored->may_contain(hash);
    (void)restored->insert(hash);
  }
  (void)restored->approximate_count();
  (void)restored->fpr_now();
}

}  // namespace guestlist::laws
