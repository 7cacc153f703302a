#pragma once

// Where the bits of a key go in a blocked Bloom filter. Every layout confines a key to one block
// that lies in one cache line, so a query costs one cache miss whatever the size.

#include <cstdint>
#include <string_view>

namespace guestlist {

/// The numbers are those of the file format.
enum class BlockLayout : std::uint8_t {
  split_line = 1,  ///< 64-byte line, eight 64-bit lanes, one bit each: k = 8. The native default.
  split_line_16 =
      2,  ///< the same line, two bits a lane: k = 16. Smaller below an fpr of about 2e-4.
  split_block =
      3,  ///< 32-byte block, eight 32-bit lanes, one bit each, as Parquet, Arrow and Impala.
};

/// `split-line`, `split-line-16`, `split-block`.
std::string_view name(BlockLayout layout) noexcept;

constexpr std::uint64_t block_bytes(BlockLayout layout) noexcept {
  return layout == BlockLayout::split_block ? 32 : 64;
}

constexpr std::uint32_t probes(BlockLayout layout) noexcept {
  return layout == BlockLayout::split_line_16 ? 16 : 8;
}

}  // namespace guestlist
