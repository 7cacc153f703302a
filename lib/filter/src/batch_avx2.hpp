#pragma once

// Eight keys to their blocks with AVX2, four at a time. AVX2 has no 64-bit multiply; below 2^32
// blocks the upper half of hash * blocks comes from two 32-bit ones:
//
//   hi64(hash * blocks) = ((hash >> 32) * blocks + ((hash mod 2^32) * blocks >> 32)) >> 32
//
// exactly: the sum stays below 2^64, and what the inner shift drops is less than one of its units.
// Integers are hashed in registers, from 32-bit products like all else.

#include <immintrin.h>

#include "batch_keys.hpp"
#include "guestlist/filter/block_body_avx2.hpp"
#include "key_group.hpp"

namespace guestlist {
namespace avx2 {

struct EightHashes {
  __m256i first_four;
  __m256i last_four;
};

[[gnu::always_inline]] inline EightHashes load_eight(const std::uint64_t* hashes) noexcept {
  const auto* const halves = reinterpret_cast<const __m256i*>(hashes);
  return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}

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

/// IntegerHasher{seed} of four keys. The 128-bit product is summed from 32-bit ones in the order of
/// their weight; no sum exceeds 64 bits.
[[gnu::always_inline]] inline __m256i hash_four(__m256i keys, __m256i seed) noexcept {
  constexpr std::uint64_t first = IntegerHasher::first_multiplier;
  constexpr std::uint64_t second = IntegerHasher::second_multiplier;
  const __m256i first_low = _mm256_set1_epi64x(first & 0xFFFFFFFF);
  const __m256i first_high = _mm256_set1_epi64x(first >> 32);
  const __m256i upper_keys = _mm256_srli_epi64(keys, 32);

  const __m256i low = _mm256_mul_epu32(keys, first_low);
  const __m256i middle =
      _mm256_add_epi64(_mm256_mul_epu32(keys, first_high), _mm256_srli_epi64(low, 32));
  const __m256i middle_low = _mm256_blend_epi32(middle, _mm256_setzero_si256(), 0xAA);
  const __m256i carried = _mm256_add_epi64(_mm256_mul_epu32(upper_keys, first_low), middle_low);
  const __m256i upper = _mm256_add_epi64(
      _mm256_mul_epu32(upper_keys, first_high),
      _mm256_add_epi64(_mm256_srli_epi64(middle, 32), _mm256_srli_epi64(carried, 32)));
  const __m256i lower = _mm256_blend_epi32(low, _mm256_slli_epi64(carried, 32), 0xAA);

  const __m256i folded = _mm256_add_epi64(_mm256_xor_si256(lower, upper), seed);
  const __m256i second_high = _mm256_set1_epi64x(second >> 32);
  return _mm256_add_epi64(multiply(folded, _mm256_set1_epi64x(second & 0xFFFFFFFF)),
                          _mm256_slli_epi64(_mm256_mul_epu32(folded, second_high), 32));
}

/// Keys `half` to `half + 3` of a group.
template <class Layout>
[[gnu::always_inline]] inline void place_four(__m256i keys, __m256i blocks, std::size_t half,
                                              KeyGroup<Layout>& group) noexcept {
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

  /// Hashed four at a time.
  struct Integers {
    const std::uint64_t* keys;
    IntegerHasher hasher;

    Integers(std::uint64_t seed, const std::uint64_t* first_key, std::size_t) noexcept
        : keys(first_key), hasher{seed} {}

    [[gnu::always_inline]] avx2::EightHashes group(std::size_t index) const noexcept {
      const __m256i seed = _mm256_set1_epi64x(static_cast<long long>(hasher.seed));
      const avx2::EightHashes eight = avx2::load_eight(keys + index * group_size);
      return {avx2::hash_four(eight.first_four, seed), avx2::hash_four(eight.last_four, seed)};
    }
    [[gnu::always_inline]] std::uint64_t one(std::size_t index) const noexcept {
      return hasher(keys[index]).value;
    }
  };

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    place(avx2::load_eight(hashes), blocks, group);
  }

  template <class Layout>
  [[gnu::always_inline]] static void place(avx2::EightHashes hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    if (blocks >> 32 != 0) {
      alignas(64) std::uint64_t stored[group_size];
      avx2::store(stored, hashes.first_four);
      avx2::store(stored + 4, hashes.last_four);
      return place_one_by_one(stored, blocks, group);
    }
    const __m256i all_blocks = _mm256_set1_epi64x(static_cast<long long>(blocks));
    avx2::place_four(hashes.first_four, all_blocks, 0, group);
    avx2::place_four(hashes.last_four, all_blocks, 4, group);
  }
};

}  // namespace
}  // namespace guestlist
