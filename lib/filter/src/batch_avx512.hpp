#pragma once

// One key against one block, and eight keys to their blocks, with AVX-512 (F, BW, DQ). The
// intrinsics come from the unit that includes this: <immintrin.h> in the library, SIMDe in the test
// that runs these same bodies on a machine without AVX-512.

#include "batch_keys.hpp"
#include "guestlist/filter/block_body_avx2.hpp"
#include "key_group.hpp"

namespace guestlist {

namespace avx512 {

/// Byte i of `positions` becomes lane i.
[[gnu::always_inline]] inline __m512i spread(std::uint64_t positions) noexcept {
  return _mm512_shuffle_epi8(
      _mm512_set1_epi64(static_cast<long long>(positions)),
      _mm512_set_epi64(-0xF9, -0xFA, -0xFB, -0xFC, -0xFD, -0xFE, -0xFF, -0x100));
}

/// The signs say whether the bits at `positions` are set.
[[gnu::always_inline]] inline __m512i signs_at(__m512i line, std::uint64_t positions) noexcept {
  return _mm512_sllv_epi64(line, spread(positions));
}

[[gnu::always_inline]] inline bool all_signs(__m512i lanes) noexcept {
  return _mm512_movepi64_mask(lanes) == 0xFF;
}

[[gnu::always_inline]] inline __m512i mask_at(std::uint64_t positions) noexcept {
  return _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(SplitLine::top_bit)),
                           spread(positions));
}

[[gnu::always_inline]] inline bool set_bits(std::uint64_t* block, __m512i mask) noexcept {
  const __m512i before = _mm512_load_si512(block);
  _mm512_store_si512(block, _mm512_or_si512(before, mask));
  return _mm512_test_epi64_mask(_mm512_andnot_si512(before, mask), mask) != 0;
}

/// As avx2::multiply, for eight keys.
[[gnu::always_inline]] inline __m512i multiply(__m512i values, std::uint64_t multiplier) noexcept {
  const __m512i all = _mm512_set1_epi64(static_cast<long long>(multiplier));
  const __m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(values, 32), all);
  return _mm512_add_epi64(_mm512_mul_epu32(values, all), _mm512_slli_epi64(upper, 32));
}

[[gnu::always_inline]] inline __m512i positions_of(__m512i products) noexcept {
  return _mm512_and_si512(products,
                          _mm512_set1_epi64(static_cast<long long>(SplitLine::position_mask)));
}

[[gnu::always_inline]] inline __m512i fold(__m512i values) noexcept {
  return _mm512_xor_si512(values, _mm512_srli_epi64(values, 32));
}

/// As avx2::line_of, for eight keys. Requires: blocks < 2^32.
[[gnu::always_inline]] inline __m512i line_of(__m512i hashes, __m512i blocks) noexcept {
  const __m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(hashes, 32), blocks);
  const __m512i lower = _mm512_srli_epi64(_mm512_mul_epu32(hashes, blocks), 32);
  return _mm512_srli_epi64(_mm512_add_epi64(upper, lower), 32);
}

}  // namespace avx512

/// A split block is half as wide as a register: AVX2 serves it as well.
template <class Layout>
struct BlockBodyAvx512 : BlockBodyAvx2<Layout> {};

template <>
struct BlockBodyAvx512<SplitLine> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine::Bits bits) noexcept {
    return avx512::all_signs(avx512::signs_at(_mm512_load_si512(block), bits.positions));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine::Bits bits) noexcept {
    return avx512::set_bits(block, avx512::mask_at(bits.positions));
  }
};

template <>
struct BlockBodyAvx512<SplitLine16> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine16::Bits bits) noexcept {
    const __m512i line = _mm512_load_si512(block);
    return avx512::all_signs(_mm512_and_si512(avx512::signs_at(line, bits.positions),
                                              avx512::signs_at(line, bits.second_positions)));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine16::Bits bits) noexcept {
    return avx512::set_bits(block, _mm512_or_si512(avx512::mask_at(bits.positions),
                                                   avx512::mask_at(bits.second_positions)));
  }
};

namespace {

struct Avx512 {
  using Integers = IntegersAhead;

  template <class Layout>
  using OneKey = BlockBodyAvx512<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    if (blocks >> 32 != 0) return place_one_by_one(hashes, blocks, group);
    const __m512i keys = _mm512_loadu_si512(hashes);
    const __m512i all_blocks = _mm512_set1_epi64(static_cast<long long>(blocks));
    if constexpr (Layout::layout == BlockLayout::split_block) {
      const __m512i block =
          _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(keys, 32), all_blocks), 32);
      _mm512_store_si512(group.first_word, _mm512_slli_epi64(block, 2));
      _mm512_store_si512(group.bits, keys);
    } else {
      const __m512i products = avx512::multiply(keys, SplitLine::multiplier);
      _mm512_store_si512(group.first_word, _mm512_slli_epi64(avx512::line_of(keys, all_blocks), 3));
      _mm512_store_si512(group.bits, avx512::positions_of(products));
      if constexpr (Layout::layout == BlockLayout::split_line_16) {
        const __m512i second =
            avx512::multiply(avx512::fold(products), SplitLine16::second_multiplier);
        _mm512_store_si512(group.second_bits, avx512::positions_of(avx512::fold(second)));
      }
    }
  }
};

}  // namespace
}  // namespace guestlist
