#pragma once

// One key against one block with NEON. Keys find their blocks one by one: 64-bit Arm multiplies
// 64-bit words as fast in a core register as two lanes could be. The intrinsics come from the unit
// that includes this: <arm_neon.h> in the library, SIMDe in the test that runs these same bodies on
// other machines.

#include "batch_keys.hpp"
#include "key_group.hpp"

namespace guestlist {

namespace neon {

/// Lanes 2i and 2i + 1 of eight positions, as counts for a shift to the left.
struct Positions {
  int64x2_t pair[4];
};

[[gnu::always_inline]] inline Positions spread(std::uint64_t positions) noexcept {
  const uint16x8_t halves = vmovl_u8(vcreate_u8(positions));
  const uint32x4_t low = vmovl_u16(vget_low_u16(halves));
  const uint32x4_t high = vmovl_u16(vget_high_u16(halves));
  return {{vreinterpretq_s64_u64(vmovl_u32(vget_low_u32(low))),
           vreinterpretq_s64_u64(vmovl_u32(vget_high_u32(low))),
           vreinterpretq_s64_u64(vmovl_u32(vget_low_u32(high))),
           vreinterpretq_s64_u64(vmovl_u32(vget_high_u32(high)))}};
}

/// The signs say whether the bits at `positions` are set in all four pairs.
[[gnu::always_inline]] inline uint64x2_t signs_at(const std::uint64_t* block,
                                                  Positions positions) noexcept {
  uint64x2_t all = vshlq_u64(vld1q_u64(block), positions.pair[0]);
  for (int pair = 1; pair < 4; ++pair) {
    all = vandq_u64(all, vshlq_u64(vld1q_u64(block + 2 * pair), positions.pair[pair]));
  }
  return all;
}

[[gnu::always_inline]] inline bool all_signs(uint64x2_t lanes) noexcept {
  return ((vgetq_lane_u64(lanes, 0) & vgetq_lane_u64(lanes, 1)) >> 63) != 0;
}

[[gnu::always_inline]] inline bool any_bit(uint64x2_t lanes) noexcept {
  return (vgetq_lane_u64(lanes, 0) | vgetq_lane_u64(lanes, 1)) != 0;
}

/// Sets the bits at `positions`; the bits that were missing.
[[gnu::always_inline]] inline uint64x2_t set_bits(std::uint64_t* block,
                                                  Positions positions) noexcept {
  uint64x2_t missing = vdupq_n_u64(0);
  for (int pair = 0; pair < 4; ++pair) {
    // A shift by a negative count goes to the right.
    const uint64x2_t mask =
        vshlq_u64(vdupq_n_u64(SplitLine::top_bit), vnegq_s64(positions.pair[pair]));
    const uint64x2_t before = vld1q_u64(block + 2 * pair);
    vst1q_u64(block + 2 * pair, vorrq_u64(before, mask));
    missing = vorrq_u64(missing, vbicq_u64(mask, before));
  }
  return missing;
}

/// The bits of four lanes of a split block, from lane `first`.
[[gnu::always_inline]] inline uint64x2_t mask_of(SplitBlock::Bits bits,
                                                 std::size_t first) noexcept {
  const uint32x4_t salts = vld1q_u32(SplitBlock::salts + first);
  const uint32x4_t products = vmulq_u32(salts, vdupq_n_u32(static_cast<std::uint32_t>(bits.low)));
  return vreinterpretq_u64_u32(
      vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32(products, 27))));
}

}  // namespace neon

template <class Layout>
struct BlockBodyNeon;

template <>
struct BlockBodyNeon<SplitLine> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine::Bits bits) noexcept {
    return neon::all_signs(neon::signs_at(block, neon::spread(bits.positions)));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine::Bits bits) noexcept {
    return neon::any_bit(neon::set_bits(block, neon::spread(bits.positions)));
  }
};

template <>
struct BlockBodyNeon<SplitLine16> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine16::Bits bits) noexcept {
    return neon::all_signs(vandq_u64(neon::signs_at(block, neon::spread(bits.positions)),
                                     neon::signs_at(block, neon::spread(bits.second_positions))));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine16::Bits bits) noexcept {
    const uint64x2_t first = neon::set_bits(block, neon::spread(bits.positions));
    const uint64x2_t second = neon::set_bits(block, neon::spread(bits.second_positions));
    return neon::any_bit(vorrq_u64(first, second));
  }
};

template <>
struct BlockBodyNeon<SplitBlock> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitBlock::Bits bits) noexcept {
    return !neon::any_bit(vorrq_u64(vbicq_u64(neon::mask_of(bits, 0), vld1q_u64(block)),
                                    vbicq_u64(neon::mask_of(bits, 4), vld1q_u64(block + 2))));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitBlock::Bits bits) noexcept {
    const bool changed = !may_contain(block, bits);
    vst1q_u64(block, vorrq_u64(vld1q_u64(block), neon::mask_of(bits, 0)));
    vst1q_u64(block + 2, vorrq_u64(vld1q_u64(block + 2), neon::mask_of(bits, 4)));
    return changed;
  }
};

namespace {

struct Neon {
  using Integers = IntegersAhead;

  template <class Layout>
  using OneKey = BlockBodyNeon<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    place_one_by_one(hashes, blocks, group);
  }
};

}  // namespace
}  // namespace guestlist
