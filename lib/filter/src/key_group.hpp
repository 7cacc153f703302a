#pragma once

// Eight keys on their way through a batch: which block each belongs to and which bits it has there.

#include <cstddef>
#include <cstdint>

#include "guestlist/filter/block_bits.hpp"

namespace guestlist {

inline constexpr std::size_t group_size = 8;

template <class Layout>
struct KeyGroup {
  alignas(64) std::uint64_t first_word[group_size];  ///< of the key's block
  alignas(64) std::uint64_t bits[group_size];

  [[gnu::always_inline]] typename Layout::Bits bits_of(std::size_t key) const noexcept {
    return {bits[key]};
  }
};

template <>
struct KeyGroup<SplitLine16> {
  alignas(64) std::uint64_t first_word[group_size];
  alignas(64) std::uint64_t bits[group_size];
  alignas(64) std::uint64_t second_bits[group_size];

  [[gnu::always_inline]] SplitLine16::Bits bits_of(std::size_t key) const noexcept {
    return {bits[key], second_bits[key]};
  }
};

template <class Layout>
[[gnu::always_inline]] inline void place_one_by_one(const std::uint64_t* hashes,
                                                    std::uint64_t blocks,
                                                    KeyGroup<Layout>& group) noexcept {
  for (std::size_t key = 0; key < group_size; ++key) {
    group.first_word[key] = Layout::block_of(hashes[key], blocks) * Layout::words;
    const auto bits = Layout::bits_of(hashes[key]);
    if constexpr (Layout::layout == BlockLayout::split_line_16) {
      group.bits[key] = bits.positions;
      group.second_bits[key] = bits.second_positions;
    } else if constexpr (Layout::layout == BlockLayout::split_line) {
      group.bits[key] = bits.positions;
    } else {
      group.bits[key] = bits.low;
    }
  }
}

}  // namespace guestlist
