#include "core/cuckoo_chain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/cuckoo_eviction.hpp"

namespace guestlist::server {
namespace {

// Items that are fetched ahead of the one that is looked at: two cache lines each.
constexpr std::size_t ahead = 32;

/// Share of slots that a search fills with certainty enough to plan on.
double planned_load(std::uint32_t bucket_size) noexcept {
  if (bucket_size == 1) return 0.45;
  if (bucket_size == 2) return 0.84;
  if (bucket_size == 3) return 0.92;
  return 0.95;
}

Added outcome_of(MemoryLimit::Answer answer) noexcept {
  return answer == MemoryLimit::Answer::object_too_large ? Added::over_object_limit
                                                         : Added::no_memory;
}

}  // namespace

std::uint64_t CuckooChain::buckets_for(std::uint64_t capacity, std::uint32_t bucket_size,
                                       bool is_strict) noexcept {
  const std::uint64_t whole = capacity / bucket_size;
  const double planned = static_cast<double>(capacity) / planned_load(bucket_size) / bucket_size;
  const std::uint64_t buckets = is_strict ? whole : static_cast<std::uint64_t>(std::ceil(planned));
  return std::bit_ceil(std::max<std::uint64_t>(buckets, 1));
}

std::uint64_t CuckooChain::buckets_of_layer(const CuckooPlan& plan, std::size_t index) noexcept {
  const bool has_overflow = plan.has_overflow();
  const std::uint64_t generation = has_overflow ? index / 2 : index;
  if (generation != 0 && plan.expansion == 0) return 0;
  // Both are powers of two.
  const auto first = static_cast<std::uint64_t>(std::countr_zero(plan.buckets));
  const auto growth = plan.expansion == 0
                          ? std::uint64_t{0}
                          : static_cast<std::uint64_t>(std::countr_zero(plan.expansion));
  const std::uint64_t exponent = first + growth * generation;
  if (exponent > 56) return 0;
  const std::uint64_t buckets = std::uint64_t{1} << exponent;
  if (!CuckooLayer::is_possible(buckets, plan.bucket_size)) return 0;
  // No overflow is larger than any table proper.
  constexpr std::uint64_t overflow_share = 64;
  if (has_overflow && index % 2 == 1) return std::min(plan.buckets, buckets / overflow_share);
  return buckets;
}

template <class Ask>
bool CuckooChain::any_largest_first(Ask ask) {
  if (!plan_.has_overflow()) return std::any_of(layers_.rbegin(), layers_.rend(), ask);
  for (const std::size_t parity : {std::size_t{0}, std::size_t{1}}) {
    for (std::size_t index = layers_.size(); index-- > 0;) {
      if (index % 2 == parity && ask(layers_[index])) return true;
    }
  }
  return false;
}

Result<CuckooChain> CuckooChain::make(const CuckooPlan& plan, const MemoryLimit& limit) {
  switch (limit.ask(0, plan.buckets * plan.bucket_size)) {
    case MemoryLimit::Answer::yes:
      break;
    case MemoryLimit::Answer::object_too_large:
      return fail(Errc::overloaded, "larger than one filter may be");
    case MemoryLimit::Answer::no_room:
      return fail(Errc::too_large, "there is no memory for the filter");
  }
  auto layer = CuckooLayer::make(plan.buckets, plan.bucket_size);
  if (!layer) return fail(std::move(layer).error());
  std::vector<CuckooLayer> layers;
  layers.push_back(*std::move(layer));
  return CuckooChain(plan, std::move(layers), 0, 0);
}

Result<CuckooChain> CuckooChain::copy() const {
  std::vector<CuckooLayer> layers;
  for (const CuckooLayer& layer : layers_) {
    auto duplicate = CuckooLayer::make(layer.buckets(), layer.bucket_size());
    if (!duplicate) return fail(std::move(duplicate).error());
    std::memcpy(duplicate->bits().data(), layer.bits().data(), layer.bits().size_bytes());
    layers.push_back(*std::move(duplicate));
  }
  CuckooChain duplicate(plan_, std::move(layers), items_, deletes_, past_);
  duplicate.set_load(load_);
  return duplicate;
}

std::uint64_t CuckooChain::size_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const CuckooLayer& layer : layers_) bytes += layer.bits().size_bytes();
  return bytes;
}

std::uint64_t CuckooChain::told_bytes() const noexcept {
  constexpr std::uint64_t filter_bytes = 40;
  constexpr std::uint64_t layer_bytes = 16;
  if (plan_.is_strict) return filter_bytes + layer_bytes * layers_.size() + size_bytes();
  std::uint64_t bytes = sizeof(*this) + layers_.capacity() * sizeof(CuckooLayer);
  for (const CuckooLayer& layer : layers_) bytes += layer.bits().allocated_bytes();
  return bytes;
}

double CuckooChain::fpr_now() const noexcept {
  constexpr std::uint64_t most_sampled = 4096;
  double compared = 0;  // slots in use that an item is compared with
  for (const CuckooLayer& layer : layers_) {
    const std::uint64_t step = std::max<std::uint64_t>(1, layer.buckets() / most_sampled);
    std::uint64_t sampled = 0;
    std::uint64_t in_use = 0;
    for (std::uint64_t bucket = 0; bucket < layer.buckets(); bucket += step, ++sampled) {
      const std::uint8_t* const slots = layer.bucket(bucket);
      in_use += static_cast<std::uint64_t>(layer.bucket_size() -
                                           std::count(slots, slots + layer.bucket_size(), 0));
    }
    compared += 2.0 * static_cast<double>(in_use) / static_cast<double>(sampled);
  }
  return 1 - std::pow(1 - 1.0 / 255, compared);
}

bool CuckooChain::has(const CuckooHash& hash) const noexcept {
  return std::any_of(layers_.rbegin(), layers_.rend(),
                     [&](const CuckooLayer& layer) { return layer.has(hash); });
}

bool CuckooChain::may_contain(std::string_view item) const noexcept {
  const CuckooHash hash = hash_of(item);
  if (layers_.size() > 1) {
    for (const CuckooLayer& layer : layers_) layer.prefetch(hash);
  }
  return has(hash);
}

void CuckooChain::may_contain_many(std::span<const std::string_view> items,
                                   bool* found) const noexcept {
  std::array<CuckooHash, batch> open;
  std::array<std::uint32_t, batch> open_at;  // where their answers go
  std::size_t count = items.size();
  for (std::size_t i = 0; i < count; ++i) {
    open[i] = hash_of(items[i]);
    open_at[i] = static_cast<std::uint32_t>(i);
  }
  // A table is asked only for the items that no newer one has.
  for (auto layer = layers_.rbegin(); layer != layers_.rend() && count > 0; ++layer) {
    for (std::size_t i = 0; i < std::min(ahead, count); ++i) layer->prefetch(open[i]);
    std::size_t still_open = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i + ahead < count) layer->prefetch(open[i + ahead]);
      const bool is_there = layer->has(open[i]);
      found[open_at[i]] = is_there;
      open[still_open] = open[i];
      open_at[still_open] = open_at[i];
      still_open += is_there ? 0 : 1;
    }
    count = still_open;
  }
}

std::uint64_t CuckooChain::count(std::string_view item) const noexcept {
  const CuckooHash hash = hash_of(item);
  std::uint64_t copies = 0;
  for (const CuckooLayer& layer : layers_) copies += layer.count(hash);
  return copies;
}

Added CuckooChain::grow(const CuckooLimit& limit) {
  const std::uint64_t buckets = buckets_of_layer(plan_, layers_.size());
  if (buckets == 0 && plan_.expansion == 0) return Added::full;
  if (layers_.size() >= std::min(limit.layers, max_layers) || buckets == 0)
    return Added::too_many_layers;
  if (const auto answer = limit.memory.ask(size_bytes(), buckets * plan_.bucket_size);
      answer != MemoryLimit::Answer::yes)
    return outcome_of(answer);
  auto layer = CuckooLayer::make(buckets, plan_.bucket_size);
  if (!layer) return Added::no_memory;
  layers_.push_back(*std::move(layer));
  return Added::added;
}

bool CuckooChain::make_room_and_put(const CuckooHash& hash) {
  if (plan_.is_strict) return put_by_walk(layers_.back(), hash, plan_.max_iterations);
  return any_largest_first(
      [&](CuckooLayer& layer) { return layer.put(hash) || put_by_search(layer, hash); });
}

Added CuckooChain::add(const CuckooHash& hash, bool only_new, const CuckooLimit& limit) {
  if (plan_.is_strict && layers_.size() >= limit.layers) return Added::too_many_layers;
  if (only_new && has(hash)) {
    ++misuse_.adds_taken_for_seen;
    past_.note(Past::taken_for_seen);
    return Added::seen;
  }
  // What stands in the overflow cannot be moved into the table proper: that is filled first.
  const bool has_room =
      plan_.has_overflow() ? layers_[newest_proper()].put(hash)
                           : any_largest_first([&](CuckooLayer& layer) { return layer.put(hash); });
  if (!has_room && !make_room_and_put(hash)) {
    if (const Added grown = grow(limit); grown != Added::added) return grown;
    layers_.back().put(hash);
  }
  ++items_;
  return Added::added;
}

Added CuckooChain::add(std::string_view item, bool only_new, const CuckooLimit& limit) {
  return add(hash_of(item), only_new, limit);
}

void CuckooChain::add_many(std::span<const std::string_view> items, bool only_new, Added* outcomes,
                           const CuckooLimit& limit) {
  std::array<CuckooHash, batch> hashes;
  for (std::size_t i = 0; i < items.size(); ++i) hashes[i] = hash_of(items[i]);
  for (std::size_t i = 0; i < std::min(ahead, items.size()); ++i)
    layers_[newest_proper()].prefetch(hashes[i]);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + ahead < items.size()) layers_[newest_proper()].prefetch(hashes[i + ahead]);
    outcomes[i] = add(hashes[i], only_new, limit);
  }
}

bool CuckooChain::remove(std::string_view item) {
  const CuckooHash hash = hash_of(item);
  const bool is_removed = any_largest_first([&](CuckooLayer& layer) { return layer.remove(hash); });
  past_.note(is_removed ? Past::deleted : Past::missed);
  if (!is_removed) {
    ++misuse_.deletes_not_found;
    return false;
  }
  if (items_ > 0) --items_;
  ++deletes_;
  if (layers_.size() > 1 && deletes_ > items_ / 10) compact(true);
  return true;
}

bool CuckooChain::empty_into_older(std::size_t index) {
  CuckooLayer& from = layers_[index];
  bool is_empty = true;
  for (std::uint64_t bucket = 0; bucket < from.buckets(); ++bucket) {
    std::uint8_t* const slots = from.bucket(bucket);
    for (std::uint32_t slot = 0; slot < from.bucket_size(); ++slot) {
      if (slots[slot] == 0) continue;
      const CuckooHash hash = CuckooHash::at(bucket, slots[slot]);
      const bool has_moved =
          std::any_of(layers_.begin(), layers_.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](CuckooLayer& older) {
                        // In a larger one nobody knows where it belongs.
                        return older.buckets() <= from.buckets() && older.put(hash);
                      });
      if (has_moved) slots[slot] = 0;
      is_empty &= has_moved;
    }
  }
  return is_empty;
}

void CuckooChain::compact(bool stops_early) {
  for (std::size_t index = layers_.size(); index-- > 1;) {
    const bool is_empty = empty_into_older(index);
    if (is_empty && index + 1 == layers_.size()) layers_.pop_back();
    if (!is_empty && stops_early) break;
  }
  deletes_ = 0;
}

}  // namespace guestlist::server
