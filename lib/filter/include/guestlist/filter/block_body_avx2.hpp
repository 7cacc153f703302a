#pragma once

// One key against one block with AVX2. Inlined into units that are compiled for AVX2; all other
// units reach the same bodies through BlockKernels. Every function is always inlined, so that no
// copy of it can be linked into a program that runs on a machine without AVX2.
//
// A query of a split line: two loads, two shuffles, two shifts, one `and`, one move of the signs.

#ifdef __AVX2__

#include <immintrin.h>

#include "guestlist/filter/block_bits.hpp"

namespace guestlist {

template <class Layout>
struct BlockBodyAvx2;

namespace avx2 {

/// A whole split line, or eight positions for its lanes.
struct Line {
  __m256i low;
  __m256i high;
};

[[gnu::always_inline]] inline Line load_line(const std::uint64_t* block) noexcept {
  const auto* const halves = reinterpret_cast<const __m256i*>(block);
  return {_mm256_load_si256(halves), _mm256_load_si256(halves + 1)};
}

/// Byte i of `positions` becomes lane i.
[[gnu::always_inline]] inline Line spread(std::uint64_t positions) noexcept {
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(positions));
  const __m256i low_bytes = _mm256_setr_epi64x(-0x100, -0xFF, -0xFE, -0xFD);
  const __m256i high_bytes = _mm256_setr_epi64x(-0xFC, -0xFB, -0xFA, -0xF9);
  return {_mm256_shuffle_epi8(all, low_bytes), _mm256_shuffle_epi8(all, high_bytes)};
}

/// The signs say whether the bits at `positions` are set.
[[gnu::always_inline]] inline __m256i signs_at(Line line, Line positions) noexcept {
  return _mm256_and_si256(_mm256_sllv_epi64(line.low, positions.low),
                          _mm256_sllv_epi64(line.high, positions.high));
}

[[gnu::always_inline]] inline bool all_signs(__m256i lanes) noexcept {
  return _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) == 0xF;
}

[[gnu::always_inline]] inline Line mask_at(Line positions) noexcept {
  const __m256i top = _mm256_set1_epi64x(static_cast<long long>(SplitLine::top_bit));
  return {_mm256_srlv_epi64(top, positions.low), _mm256_srlv_epi64(top, positions.high)};
}

[[gnu::always_inline]] inline bool set_bits(std::uint64_t* block, Line mask) noexcept {
  auto* const halves = reinterpret_cast<__m256i*>(block);
  const Line before = load_line(block);
  const Line after = {_mm256_or_si256(before.low, mask.low),
                      _mm256_or_si256(before.high, mask.high)};
  _mm256_store_si256(halves, after.low);
  _mm256_store_si256(halves + 1, after.high);
  return !all_signs(_mm256_and_si256(_mm256_cmpeq_epi64(before.low, after.low),
                                     _mm256_cmpeq_epi64(before.high, after.high)));
}

}  // namespace avx2

template <>
struct BlockBodyAvx2<SplitLine> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine::Bits bits) noexcept {
    return avx2::all_signs(avx2::signs_at(avx2::load_line(block), avx2::spread(bits.positions)));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine::Bits bits) noexcept {
    return avx2::set_bits(block, avx2::mask_at(avx2::spread(bits.positions)));
  }
};

template <>
struct BlockBodyAvx2<SplitLine16> {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitLine16::Bits bits) noexcept {
    const avx2::Line line = avx2::load_line(block);
    return avx2::all_signs(
        _mm256_and_si256(avx2::signs_at(line, avx2::spread(bits.positions)),
                         avx2::signs_at(line, avx2::spread(bits.second_positions))));
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitLine16::Bits bits) noexcept {
    const avx2::Line first = avx2::mask_at(avx2::spread(bits.positions));
    const avx2::Line second = avx2::mask_at(avx2::spread(bits.second_positions));
    return avx2::set_bits(
        block, {_mm256_or_si256(first.low, second.low), _mm256_or_si256(first.high, second.high)});
  }
};

template <>
struct BlockBodyAvx2<SplitBlock> {
  [[gnu::always_inline]] static __m256i mask_of(SplitBlock::Bits bits) noexcept {
    const __m256i salts = _mm256_setr_epi32(0x47b6137b, 0x44974d91, static_cast<int>(0x8824ad5b),
                                            static_cast<int>(0xa2b7289d), 0x705495c7, 0x2df1424b,
                                            static_cast<int>(0x9efc4947), 0x5c6bfb31);
    const __m256i products =
        _mm256_mullo_epi32(salts, _mm256_set1_epi32(static_cast<int>(bits.low)));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
  }

  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 SplitBlock::Bits bits) noexcept {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(block));
    return _mm256_testc_si256(lanes, mask_of(bits)) != 0;
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block, SplitBlock::Bits bits) noexcept {
    auto* const lanes = reinterpret_cast<__m256i*>(block);
    const __m256i before = _mm256_load_si256(lanes);
    const __m256i mask = mask_of(bits);
    _mm256_store_si256(lanes, _mm256_or_si256(before, mask));
    return _mm256_testc_si256(before, mask) == 0;
  }
};

}  // namespace guestlist

#endif
