#include "core/bloom_value.hpp"

#include <cstring>

namespace guestlist::server {
namespace {

template <class Layer>
Result<BloomValue> copy_chain(const LayerChain<Layer>& chain) {
  std::vector<Layer> layers;
  for (const Layer& layer : chain.layers()) {
    auto bits = BitMemory::zeroed(layer.bits().size_bytes());
    if (!bits) return fail(std::move(bits).error());
    std::memcpy(bits->data(), layer.bits().data(), bits->size_bytes());
    layers.emplace_back(layer.shape(), *std::move(bits));
  }
  return BloomValue(
      LayerChain<Layer>(chain.plan(), chain.hasher(), std::move(layers), chain.items()));
}

}  // namespace

Result<BloomValue> copy_of(const BloomValue& value) {
  auto copied = value.visit([](const auto& chain) { return copy_chain(chain); });
  if (copied) copied->set_load(value.load());
  return copied;
}

std::uint64_t BloomValue::told_bytes() const noexcept {
  constexpr std::uint64_t chain_bytes = 32;
  constexpr std::uint64_t layer_bytes = 64;
  if (const NativeChain* const chain = native()) return sizeof(*this) + chain->allocated_bytes();
  return chain_bytes + layer_bytes * classic()->layers().size() + classic()->size_bytes();
}

}  // namespace guestlist::server
