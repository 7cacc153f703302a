#pragma once

// Eight keys to their blocks with AVX2, four at a time. AVX2 has no 64-bit multiply; below 2^32
// blocks the upper half of hash * blocks comes from two 32-bit ones:
//
//   hi64(hash * blocks) = ((hash >> 32) * blocks + ((hash mod 2^32) * blocks >> 32)) >> 32
//
// exactly: the sum stays below 2^64, and what the inner shift drops is less than one of its units.

#include <immintrin.h>

#include "guestlist/filter/block_body_avx2.hpp"
#include "key_group.hpp"

namespace guestlist {
namespace avx2 {

/// The lower 64 bits of each `values` lane times a multiplier below 2^32.
[[gnu::always_inline]] inline __m256i multiply(__m256i values, __m256i multiplier) noexcept {
  const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(values, 32), multiplier);
  return _mm256_add_epi64(_mm256_mul_epu32(values, multiplier), _mm256_slli_epi64(upper, 32));
}

[[gnu::always_inline]] inline __m256i positions_of(__m256i products) noexcept {
  return _mm256_and_si256(products,
                          _mm256_set1_epi64x(static_cast<long long>(SplitLine::position_mask)));
}

[[gnu::always_inline]] inline __m256i fold(__m256i values) noexcept {
  return _mm256_xor_si256(values, _mm256_srli_epi64(values, 32));
}

[[gnu::always_inline]] inline __m256i line_of(__m256i hashes, __m256i blocks) noexcept {
  const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(hashes, 32), blocks);
  const __m256i lower = _mm256_srli_epi64(_mm256_mul_epu32(hashes, blocks), 32);
  return _mm256_srli_epi64(_mm256_add_epi64(upper, lower), 32);
}

[[gnu::always_inline]] inline void store(std::uint64_t* to, __m256i values) noexcept {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), values);
}

/// Keys `half` to `half + 3` of a group.
template <class Layout>
[[gnu::always_inline]] inline void place_four(const std::uint64_t* hashes, __m256i blocks,
                                              std::size_t half, KeyGroup<Layout>& group) noexcept {
  const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes + half));
  if constexpr (Layout::layout == BlockLayout::split_block) {
    const __m256i block =
        _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(keys, 32), blocks), 32);
    store(group.first_word + half, _mm256_slli_epi64(block, 2));
    store(group.bits + half, keys);
  } else {
    const __m256i products = multiply(keys, _mm256_set1_epi64x(SplitLine::multiplier));
    store(group.first_word + half, _mm256_slli_epi64(line_of(keys, blocks), 3));
    store(group.bits + half, positions_of(products));
    if constexpr (Layout::layout == BlockLayout::split_line_16) {
      const __m256i second =
          multiply(fold(products), _mm256_set1_epi64x(SplitLine16::second_multiplier));
      store(group.second_bits + half, positions_of(fold(second)));
    }
  }
}

}  // namespace avx2

namespace {

struct Avx2 {
  template <class Layout>
  using OneKey = BlockBodyAvx2<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    if (blocks >> 32 != 0) return place_one_by_one(hashes, blocks, group);
    const __m256i all_blocks = _mm256_set1_epi64x(static_cast<long long>(blocks));
    avx2::place_four(hashes, all_blocks, 0, group);
    avx2::place_four(hashes, all_blocks, 4, group);
  }
};

}  // namespace
}  // namespace guestlist
