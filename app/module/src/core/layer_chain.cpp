#include "core/layer_chain.hpp"

#include <cmath>

namespace guestlist::server {
namespace {

Added outcome_of(MemoryLimit::Answer answer) noexcept {
  return answer == MemoryLimit::Answer::object_too_large ? Added::over_object_limit
                                                         : Added::no_memory;
}

/// Of files that were written before growth was.
constexpr std::uint32_t growth_of_old_files = 2;

std::uint64_t next_capacity(const ChainPlan& plan, std::uint64_t previous) noexcept {
  const std::uint64_t growth = plan.growth == 0 ? growth_of_old_files : plan.growth;
  constexpr std::uint64_t most = NativeChain::max_capacity;
  return previous > most / growth ? 0 : previous * growth;
}

}  // namespace

NativeLayerShape layer_after(const ChainPlan& plan, const NativeLayerShape* previous,
                             std::size_t index) {
  if (previous == nullptr) {
    return NativeLayer::plan(plan.capacity,
                             plan.is_scaling ? plan.fpr * plan.first_share : plan.fpr);
  }
  const std::uint64_t capacity = next_capacity(plan, previous->capacity);
  if (capacity == 0) return {};
  const double rest = plan.fpr * (1 - plan.first_share) * (1 - plan.tightening);
  const double share = rest * std::pow(plan.tightening, static_cast<double>(index - 1));
  return NativeLayer::plan(capacity, std::max(share, NativeLayer::min_fpr));
}

ClassicLayerShape layer_after(const ChainPlan& plan, const ClassicLayerShape* previous,
                              std::size_t /*index*/) {
  constexpr double tightening = 0.5;
  if (previous == nullptr) {
    return ClassicLayer::plan(plan.capacity, plan.is_scaling ? plan.fpr * tightening : plan.fpr);
  }
  const std::uint64_t capacity = next_capacity(plan, previous->capacity);
  const double fpr = previous->fpr * tightening;
  if (capacity == 0 || fpr <= 0) return {};
  return ClassicLayer::plan(capacity, fpr);
}

template <class Layer>
Result<LayerChain<Layer>> LayerChain<Layer>::make(const ChainPlan& plan, const Hasher& hasher,
                                                  const MemoryLimit& limit) {
  const Shape shape = layer_after(plan, static_cast<const Shape*>(nullptr), 0);
  switch (limit.ask(0, shape_bytes(shape))) {
    case MemoryLimit::Answer::yes:
      break;
    case MemoryLimit::Answer::object_too_large:
      return fail(Errc::overloaded, "operation exceeds bloom object memory limit");
    case MemoryLimit::Answer::no_room:
      return fail(Errc::too_large, "Insufficient memory to create filter");
  }
  auto first = Layer::make(shape);
  if (!first) return fail(std::move(first).error());
  std::vector<Layer> layers;
  layers.push_back(*std::move(first));
  return LayerChain(plan, hasher, std::move(layers), 0);
}

template <class Layer>
std::uint64_t LayerChain<Layer>::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.capacity();
  return sum;
}

template <class Layer>
std::uint64_t LayerChain<Layer>::size_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.bits().size_bytes();
  return sum;
}

template <class Layer>
std::uint64_t LayerChain<Layer>::allocated_bytes() const noexcept {
  std::uint64_t sum = sizeof(*this) + layers_.capacity() * sizeof(Layer);
  for (const Layer& layer : layers_) sum += layer.bits().allocated_bytes();
  return sum;
}

template <class Layer>
bool LayerChain<Layer>::may_contain(std::string_view item) const noexcept {
  const Hash hash = hasher_(item);
  if (layers_.size() > 1) {
    for (const Layer& layer : layers_) layer.prefetch(hash);
  }
  return std::any_of(layers_.rbegin(), layers_.rend(),
                     [&](const Layer& layer) { return layer.may_contain(hash); });
}

template <class Layer>
void LayerChain<Layer>::may_contain_many(std::span<const std::string_view> items,
                                         bool* found) const noexcept {
  std::array<Hash, batch> hashes;
  for (std::size_t start = 0; start < items.size(); start += batch) {
    const auto some = items.subspan(start, std::min(batch, items.size() - start));
    for (std::size_t i = 0; i < some.size(); ++i) hashes[i] = hasher_(some[i]);
    find(std::span(hashes).first(some.size()), found + start);
  }
}

template <class Layer>
void LayerChain<Layer>::find(std::span<const Hash> hashes, bool* found) const noexcept {
  if (layers_.size() == 1) return layers_.front().may_contain_many(hashes, found);
  std::array<Hash, batch> open;
  std::array<std::uint32_t, batch> open_at;  // where their answers go
  std::array<bool, batch> answers;
  std::size_t count = hashes.size();
  for (std::size_t i = 0; i < count; ++i) {
    open[i] = hashes[i];
    open_at[i] = static_cast<std::uint32_t>(i);
    found[i] = false;
  }
  for (auto layer = layers_.rbegin(); layer != layers_.rend() && count > 0; ++layer) {
    layer->may_contain_many(std::span(open).first(count), answers.data());
    std::size_t still_open = 0;
    for (std::size_t i = 0; i < count; ++i) {
      found[open_at[i]] = answers[i];
      open[still_open] = open[i];
      open_at[still_open] = open_at[i];
      still_open += answers[i] ? 0 : 1;
    }
    count = still_open;
  }
}

template <class Layer>
Added LayerChain<Layer>::grow(const MemoryLimit& limit) {
  if (!plan_.is_scaling) return Added::full;
  const Shape next = layer_after(plan_, &layers_.back().shape(), layers_.size());
  if (layers_.size() >= max_layers || shape_bytes(next) == 0) return Added::too_many_layers;
  if (const auto answer = limit.ask(size_bytes(), shape_bytes(next));
      answer != MemoryLimit::Answer::yes)
    return outcome_of(answer);
  auto layer = Layer::make(next);
  if (!layer) return Added::no_memory;
  layers_.push_back(*std::move(layer));
  return Added::added;
}

template <class Layer>
Added LayerChain<Layer>::add(std::string_view item, const MemoryLimit& limit) {
  const Hash hash = hasher_(item);
  if (layers_.size() > 1) {
    for (const Layer& layer : layers_) layer.prefetch(hash);
    if (std::any_of(layers_.rbegin(), layers_.rend(),
                    [&](const Layer& layer) { return layer.may_contain(hash); }))
      return Added::seen;
  }
  if (is_full()) {
    if (layers_.size() == 1 && layers_.front().may_contain(hash)) return Added::seen;
    if (const Added grown = grow(limit); grown != Added::added) return grown;
  }
  // With one layer, setting the bits says whether they were set before: one pass.
  if (!layers_.back().insert(hash)) return Added::seen;
  layers_.back().count_item();
  ++items_;
  return Added::added;
}

template <class Layer>
std::size_t LayerChain<Layer>::add_some(std::span<const std::string_view> items, Added* outcomes,
                                        const MemoryLimit& limit) {
  std::array<Hash, batch> hashes;
  std::array<bool, batch> found;
  for (std::size_t i = 0; i < items.size(); ++i) hashes[i] = hasher_(items[i]);
  const auto all = std::span(hashes).first(items.size());
  find(all, found.data());
  layers_.back().prepare(all, found.data());
  Added refused = Added::added;  // why the chain does not grow in this call, once it has not
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (found[i]) {
      outcomes[i] = Added::seen;
      continue;
    }
    if (is_full()) {
      // An earlier item of this call may have set the bits.
      if (layers_.back().may_contain(hashes[i])) {
        outcomes[i] = Added::seen;
        continue;
      }
      if (refused == Added::added) refused = grow(limit);
      if (refused != Added::added) {
        outcomes[i] = refused;
        if (refused == Added::full) return i + 1;
        continue;
      }
      // What this call put into the layer that was the newest is not in `found`.
      find(all.subspan(i), found.data() + i);
      layers_.back().prepare(all.subspan(i), found.data() + i);
      if (found[i]) {
        outcomes[i] = Added::seen;
        continue;
      }
    }
    const bool is_new = layers_.back().insert(hashes[i]);
    outcomes[i] = is_new ? Added::added : Added::seen;
    if (is_new) {
      layers_.back().count_item();
      ++items_;
    }
  }
  return items.size();
}

template <class Layer>
void LayerChain<Layer>::clear() noexcept {
  layers_.erase(layers_.begin() + 1, layers_.end());
  Layer& first = layers_.front();
  std::ranges::fill(first.bits().mutable_bytes(), std::byte{0});
  first.set_items(0);
  items_ = 0;
}

template <class Layer>
void LayerChain<Layer>::merge(LayerChain&& other) {
  const auto same_shape = [](Shape left, const Shape& right) {
    left.items = right.items;
    return left == right;
  };
  for (Layer& theirs : other.layers_) {
    const auto ours = std::ranges::find_if(layers_, [&](const Layer& layer) {
      return same_shape(layer.shape(), theirs.shape()) && layer.items() <= layer.capacity() &&
             theirs.items() <= layer.capacity() - layer.items();
    });
    if (ours != layers_.end()) {
      ours->merge(theirs);
      ours->set_items(ours->items() + theirs.items());
    } else {
      layers_.push_back(std::move(theirs));
    }
  }
  std::ranges::stable_sort(layers_, {}, &Layer::capacity);
  items_ += other.items_;
}

template class LayerChain<NativeLayer>;
template class LayerChain<ClassicLayer>;

}  // namespace guestlist::server
