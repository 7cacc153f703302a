#pragma once

// Where the bits of a key go, as portable arithmetic: the definition that every faster body must
// match bit for bit. A block is an array of 64-bit little-endian words; a key is one 64-bit hash.
//
//   split_line     block = hi64(hash * blocks). Let p = hash * 0x9E3779B1 mod 2^64. Lane i (word i
//                  of eight) holds one bit, at position (byte i of p) mod 64, counted from the most
//                  significant bit.
//   split_line_16  as split_line, and a second bit in each lane: with fold(x) = x ^ (x >> 32), at
//                  position (byte i of fold(fold(p) * 0x85EBCA77)) mod 64. Without the folds two of
//                  the sixteen positions would be functions of the same six bits of the hash.
//   split_block    as the Parquet specification says: block = (hash / 2^32) * blocks / 2^32; lane i
//                  (32-bit word i of eight) holds one bit, at position (salt[i] * hash mod 2^32) /
//                  2^27, counted from the least significant bit.
//
// Why bytes: eight positions come out of one product by a byte shuffle, without a shift and a mask
// for each. Why from the top: a lane shifted left by its position has the bit asked for in its
// sign, and one instruction gathers the signs of four lanes. Why a multiplier of 32 bits: machines
// without a 64-bit vector multiply need two instructions for four such products instead of three.
// The block comes from the high end of the hash and the low bytes of p from its low end, so the
// hash must be strong at both ends.
//
// Every function is always inlined: these headers are also compiled into units for one instruction
// set only, and a copy shared by the linker could end up on a machine without it.
//
// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; for
// split_block, Apache Parquet, BloomFilter.md.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "guestlist/filter/block_layout.hpp"

namespace guestlist {

static_assert(std::endian::native == std::endian::little, "the words of a block are little-endian");

/// The upper half of the 128-bit product: a number in [0, range) that keeps the order of `value`.
[[gnu::always_inline]] constexpr std::uint64_t multiply_high(std::uint64_t value,
                                                             std::uint64_t range) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{value} * range) >> 64);
}

struct SplitLine {
  static constexpr BlockLayout layout = BlockLayout::split_line;
  static constexpr std::size_t words = 8;
  static constexpr std::uint64_t multiplier = 0x9E3779B1;
  static constexpr std::uint64_t position_mask = 0x3F3F3F3F3F3F3F3F;
  static constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

  struct Bits {
    std::uint64_t positions;  ///< one a byte, byte i for lane i
  };

  [[gnu::always_inline]] static constexpr std::uint64_t block_of(std::uint64_t hash,
                                                                 std::uint64_t blocks) noexcept {
    return multiply_high(hash, blocks);
  }
  [[gnu::always_inline]] static constexpr Bits bits_of(std::uint64_t hash) noexcept {
    return {(hash * multiplier) & position_mask};
  }
  [[gnu::always_inline]] static constexpr std::uint64_t mask(Bits bits, std::size_t word) noexcept {
    return top_bit >> ((bits.positions >> (8 * word)) & 63);
  }
};

struct SplitLine16 {
  static constexpr BlockLayout layout = BlockLayout::split_line_16;
  static constexpr std::size_t words = 8;
  static constexpr std::uint64_t second_multiplier = 0x85EBCA77;

  struct Bits {
    std::uint64_t positions;
    std::uint64_t second_positions;
  };

  /// Brings what the upper half knows down to the lower one.
  [[gnu::always_inline]] static constexpr std::uint64_t fold(std::uint64_t value) noexcept {
    return value ^ (value >> 32);
  }
  [[gnu::always_inline]] static constexpr std::uint64_t block_of(std::uint64_t hash,
                                                                 std::uint64_t blocks) noexcept {
    return multiply_high(hash, blocks);
  }
  [[gnu::always_inline]] static constexpr Bits bits_of(std::uint64_t hash) noexcept {
    const std::uint64_t product = hash * SplitLine::multiplier;
    const std::uint64_t second = fold(fold(product) * second_multiplier);
    return {product & SplitLine::position_mask, second & SplitLine::position_mask};
  }
  [[gnu::always_inline]] static constexpr std::uint64_t mask(Bits bits, std::size_t word) noexcept {
    return SplitLine::mask({bits.positions}, word) | SplitLine::mask({bits.second_positions}, word);
  }
};

struct SplitBlock {
  static constexpr BlockLayout layout = BlockLayout::split_block;
  static constexpr std::size_t words = 4;
  static constexpr std::uint32_t salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                             0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

  struct Bits {
    std::uint64_t low;  ///< the lower 32 bits of the hash; what stands above them is ignored
  };

  /// Requires: blocks < 2^32.
  [[gnu::always_inline]] static constexpr std::uint64_t block_of(std::uint64_t hash,
                                                                 std::uint64_t blocks) noexcept {
    return ((hash >> 32) * blocks) >> 32;
  }
  [[gnu::always_inline]] static constexpr Bits bits_of(std::uint64_t hash) noexcept {
    return {hash};
  }
  [[gnu::always_inline]] static constexpr std::uint64_t mask(Bits bits, std::size_t word) noexcept {
    return lane_mask(bits, 2 * word) | lane_mask(bits, 2 * word + 1) << 32;
  }

 private:
  [[gnu::always_inline]] static constexpr std::uint64_t lane_mask(Bits bits,
                                                                  std::size_t lane) noexcept {
    return std::uint64_t{1} << ((static_cast<std::uint32_t>(bits.low) * salts[lane]) >> 27);
  }
};

}  // namespace guestlist
