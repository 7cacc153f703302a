#pragma once

// What a key of the BF.* commands holds: a chain in one of the two layouts. The native one is ours
// and the default. The classic one is RedisBloom's, bit for bit; filters of others stay in it.

#include <cstdint>
#include <utility>
#include <variant>

#include "core/chunks.hpp"
#include "core/layer_chain.hpp"

namespace guestlist::server {

class BloomValue {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): either chain is a value.
  BloomValue(NativeChain chain) : chain_(std::move(chain)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  BloomValue(ClassicChain chain) : chain_(std::move(chain)) {}

  bool is_native() const noexcept { return std::holds_alternative<NativeChain>(chain_); }
  NativeChain* native() noexcept { return std::get_if<NativeChain>(&chain_); }
  const NativeChain* native() const noexcept { return std::get_if<NativeChain>(&chain_); }
  ClassicChain* classic() noexcept { return std::get_if<ClassicChain>(&chain_); }
  const ClassicChain* classic() const noexcept { return std::get_if<ClassicChain>(&chain_); }

  /// Calls with the chain, whichever it is.
  template <class Call>
  decltype(auto) visit(Call&& call) {
    if (NativeChain* const chain = native()) return call(*chain);
    return call(*classic());
  }
  template <class Call>
  decltype(auto) visit(Call&& call) const {
    if (const NativeChain* const chain = native()) return call(*chain);
    return call(*classic());
  }

  const ChainPlan& plan() const noexcept {
    return visit([](const auto& chain) -> const ChainPlan& { return chain.plan(); });
  }

  const ChunkLoad& load() const noexcept { return load_; }
  void set_load(const ChunkLoad& load) noexcept { load_ = load; }
  bool is_whole() const noexcept { return load_.is_whole(); }

  /// As BF.INFO and MEMORY USAGE tell it: of a native filter what the allocator spent; of a classic
  /// one what its format's first implementation took, which clients' tests pin.
  std::uint64_t told_bytes() const noexcept;

 private:
  std::variant<NativeChain, ClassicChain> chain_;
  ChunkLoad load_;
};

/// Below it a classic filter is smaller than a native one, whose later layers would have rates that
/// are not planned for.
inline constexpr double smallest_native_rate = 1e-6;

/// Errors: `too_large`.
Result<BloomValue> copy_of(const BloomValue& value);

}  // namespace guestlist::server
