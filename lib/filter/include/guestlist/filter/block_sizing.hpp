#pragma once

// How large a blocked Bloom filter must be. Keys fall into blocks at random, so some blocks hold
// more than their share, and their false positives outweigh what the emptier ones save: the classic
// formula, applied to a blocked filter, misses an asked rate of 0.01 % by a factor of three to
// five. These functions sum over the exact distribution instead and invert each other;
// docs/maths/blocked-bloom.md derives them.
//
// Pure functions, some microseconds each. Tested by: BlockSizing.*, and by measurement in FprLaw.*.

#include <cstdint>

#include "guestlist/filter/block_layout.hpp"

namespace guestlist {

/// The number of blocks that the layout's arithmetic can address.
constexpr std::uint64_t max_blocks(BlockLayout layout) noexcept {
  return layout == BlockLayout::split_block ? (std::uint64_t{1} << 32) - 1 : std::uint64_t{1} << 48;
}

/// The false positive rate of one block that holds exactly `keys` keys.
/// split_line: (1 - (63/64)^i)^8. split_block: (1 - (31/32)^i)^8. split_line_16: a lane answers for
/// two positions, which coincide once in 64: ((1 - a) / 64 + (1 - 2a + b) * 63 / 64)^8, a =
/// (63/64)^2i, b = (62/64)^2i.
double block_fpr(BlockLayout layout, double keys) noexcept;

/// The expected rate where a block holds `keys_per_block` on average: the sum over i of
/// Poisson(i; keys_per_block) * block_fpr(i), from 12 standard deviations below the mean to as many
/// above.
double fpr_at_load(BlockLayout layout, double keys_per_block) noexcept;

/// The expected rate of `blocks` blocks that hold `items` items. Requires: blocks > 0.
double fpr_of(BlockLayout layout, std::uint64_t items, std::uint64_t blocks) noexcept;

/// The fewest bits a key that keep the rate at `fpr`, by bisection. Requires: 0 < fpr < 1.
double bits_per_key_for(BlockLayout layout, double fpr) noexcept;

/// The fewest blocks, at least one, that hold `items` at `fpr`. Requires: 0 < fpr < 1; items <=
/// 2^52.
std::uint64_t blocks_for(BlockLayout layout, std::uint64_t items, double fpr) noexcept;

/// The most items that `blocks` blocks hold at `fpr`: blocks_for(capacity_for(b)) <= b, and
/// capacity_for(blocks_for(n)) >= n. Requires: 0 < fpr < 1; blocks <= 2^48.
std::uint64_t capacity_for(BlockLayout layout, std::uint64_t blocks, double fpr) noexcept;

}  // namespace guestlist
