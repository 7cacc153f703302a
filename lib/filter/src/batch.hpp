#pragma once

// A batch of keys as a rolling pipeline over groups of eight:
//
//   hash a group -> (one group later) find its blocks and prefetch them -> (16 groups later) test
//   or set bits
//
// 128 cache misses are under way at any time: 32 are enough for main memory, the shared cache gains
// up to 128. Nothing but loads and vector arithmetic stands between two prefetches.
//
// Everything here is local to the unit that includes it: each unit is compiled for its own
// instruction set, and a shared copy could end up on a machine that lacks it. For the same reason
// nothing of the standard library with a body is used.

#include <cstddef>
#include <cstdint>

#include "batch_keys.hpp"
#include "guestlist/filter/block_kernels.hpp"
#include "key_group.hpp"

namespace guestlist {
namespace {

inline constexpr std::size_t groups_ahead = 16;

/// Calls `place(index, group)` and, `groups_ahead` groups later, `finish(index, group)` for every
/// full group.
template <class Layout, class Place, class Finish>
[[gnu::always_inline]] inline void roll(const std::uint64_t* words, std::size_t groups, Place place,
                                        Finish finish) noexcept {
  KeyGroup<Layout> ring[groups_ahead];
  for (std::size_t index = 0; index < groups; ++index) {
    KeyGroup<Layout>& group = ring[index % groups_ahead];
    if (index >= groups_ahead) finish(index - groups_ahead, group);
    place(index, group);
    for (std::size_t key = 0; key < group_size; ++key)
      __builtin_prefetch(words + group.first_word[key]);
  }
  for (std::size_t index = groups > groups_ahead ? groups - groups_ahead : 0; index < groups;
       ++index) {
    finish(index, ring[index % groups_ahead]);
  }
}

template <class Layout, class Body, class Keys>
[[gnu::always_inline]] inline void query_batch(const std::uint64_t* words, std::uint64_t blocks,
                                               Keys&& keys, std::size_t count,
                                               bool* found) noexcept {
  using One = typename Body::template OneKey<Layout>;
  roll<Layout>(
      words, count / group_size,
      [&](std::size_t index, KeyGroup<Layout>& group) {
        Body::place(keys.group(index), blocks, group);
      },
      [&](std::size_t index, const KeyGroup<Layout>& group) {
        for (std::size_t key = 0; key < group_size; ++key) {
          found[index * group_size + key] =
              One::may_contain(words + group.first_word[key], group.bits_of(key));
        }
      });
  for (std::size_t key = count - count % group_size; key < count; ++key) {
    const std::uint64_t hash = keys.one(key);
    found[key] = One::may_contain(words + Layout::block_of(hash, blocks) * Layout::words,
                                  Layout::bits_of(hash));
  }
}

template <class Layout, class Body, class Keys>
[[gnu::always_inline]] inline std::size_t insert_batch(std::uint64_t* words, std::uint64_t blocks,
                                                       Keys&& keys, std::size_t count) noexcept {
  using One = typename Body::template OneKey<Layout>;
  std::size_t changed = 0;
  roll<Layout>(
      words, count / group_size,
      [&](std::size_t index, KeyGroup<Layout>& group) {
        Body::place(keys.group(index), blocks, group);
      },
      [&](std::size_t, const KeyGroup<Layout>& group) {
        for (std::size_t key = 0; key < group_size; ++key) {
          changed += One::insert(words + group.first_word[key], group.bits_of(key)) ? 1 : 0;
        }
      });
  for (std::size_t key = count - count % group_size; key < count; ++key) {
    const std::uint64_t hash = keys.one(key);
    changed +=
        One::insert(words + Layout::block_of(hash, blocks) * Layout::words, Layout::bits_of(hash));
  }
  return changed;
}

/// The table of one layout under one body.
template <class Layout, class Body>
constexpr BlockKernels kernels_of() noexcept {
  using One = typename Body::template OneKey<Layout>;
  return {
      .may_contain =
          [](const std::uint64_t* words, std::uint64_t blocks, std::uint64_t hash) noexcept {
            return One::may_contain(words + Layout::block_of(hash, blocks) * Layout::words,
                                    Layout::bits_of(hash));
          },
      .insert =
          [](std::uint64_t* words, std::uint64_t blocks, std::uint64_t hash) noexcept {
            return One::insert(words + Layout::block_of(hash, blocks) * Layout::words,
                               Layout::bits_of(hash));
          },
      .may_contain_many =
          [](const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
             std::size_t count, bool* found) noexcept {
            query_batch<Layout, Body>(words, blocks, Hashes{hashes}, count, found);
          },
      .insert_many =
          [](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
             std::size_t count) noexcept {
            return insert_batch<Layout, Body>(words, blocks, Hashes{hashes}, count);
          },
      .may_contain_integers =
          [](const std::uint64_t* words, std::uint64_t blocks, std::uint64_t seed,
             const std::uint64_t* keys, std::size_t count, bool* found) noexcept {
            query_batch<Layout, Body>(words, blocks, typename Body::Integers(seed, keys, count),
                                      count, found);
          },
      .insert_integers =
          [](std::uint64_t* words, std::uint64_t blocks, std::uint64_t seed,
             const std::uint64_t* keys, std::size_t count) noexcept {
            return insert_batch<Layout, Body>(words, blocks,
                                              typename Body::Integers(seed, keys, count), count);
          },
  };
}

/// The tables of all layouts under one body.
template <class Body>
const BlockKernels* tables_of(BlockLayout layout) noexcept {
  static constexpr BlockKernels split_line = kernels_of<SplitLine, Body>();
  static constexpr BlockKernels split_line_16 = kernels_of<SplitLine16, Body>();
  static constexpr BlockKernels split_block = kernels_of<SplitBlock, Body>();
  switch (layout) {
    case BlockLayout::split_line:
      break;
    case BlockLayout::split_line_16:
      return &split_line_16;
    case BlockLayout::split_block:
      return &split_block;
  }
  return &split_line;
}

}  // namespace
}  // namespace guestlist
