#pragma once

// Filters as BF.SCANDUMP gives them and BF.LOADCHUNK takes them: a header, then the bits in chunks.
//
// The classic layout has the header of RedisBloom (docs/formats/module.md), so that dumps go both
// ways. The native one has its own, which starts with eight bytes that no classic header can start
// with, names its version and ends in a checksum. Chunks are the same for both (core/chunks.hpp).
//
// Everything that is read here may be hostile. Nothing is allocated before the header was found
// consistent and the limit was asked.

#include <cstdint>
#include <string>

#include "core/bloom_value.hpp"

namespace guestlist::server {

/// The option bits of a classic chain.
inline constexpr std::uint32_t classic_option_64_bit = 4;
inline constexpr std::uint32_t classic_option_fixed = 8;
inline constexpr std::uint32_t classic_options_known = 15;
/// What the commands create: bits not rounded to a power of two, 64-bit hashes.
inline constexpr std::uint32_t classic_options_new = 5;

/// Whether a layer of this shape may be believed: no probe leaves its bytes, and a query costs no
/// more than its rate asks for.
bool is_trustworthy(const ClassicLayerShape& shape) noexcept;

/// A chain around layers that were read; `plan` has its growth and options.
ClassicChain classic_chain(ChainPlan plan, std::vector<ClassicLayer> layers, std::uint64_t items);

std::string bloom_header(const BloomValue& value);

/// An empty chain with the header's parameters and counts; its bits are to follow in chunks.
/// Errors: `corrupt`, `newer_version`; `too_large` and `overloaded` as LayerChain::make.
Result<BloomValue> bloom_from_header(ByteView header, const MemoryLimit& limit);

/// The plan and the secret of a native filter, and the shapes of its layers, as the snapshot has
/// them too. Errors: as above.
struct NativeHeader {
  ChainPlan plan;
  Secret secret;
  std::uint64_t items = 0;
  std::vector<NativeLayerShape> layers;
};
std::string native_header(const NativeChain& chain);
Result<NativeHeader> parse_native_header(ByteView header);

/// The same of a classic filter.
struct ClassicHeader {
  ChainPlan plan;
  std::uint64_t items = 0;
  std::vector<ClassicLayerShape> layers;
};
Result<ClassicHeader> parse_classic_header(ByteView header);

/// Requires: iterator >= 1.
Chunk bloom_chunk(const BloomValue& value, std::uint64_t iterator);

/// Null, or the sentence of the refusal. `iterator` is the one that came with the bytes. Bits are
/// added to those that are there: what was inserted while the filter arrives stays in it. An empty
/// chunk changes no bit: it says that the load has come to this place, which is how the server's
/// log keeps a filter whose load was not over.
const char* load_bloom_chunk(BloomValue& value, std::int64_t iterator, ByteView bytes);

}  // namespace guestlist::server
