#pragma once

// One key against one block, on any machine: the reference that the other bodies are held against.
// Loads and stores are relaxed atomic ones, plain moves on every machine, so that a reader beside a
// writer is no data race by the letter either.

#include "batch_keys.hpp"
#include "key_group.hpp"

namespace guestlist {

template <class Layout>
struct BlockBodyScalar {
  [[gnu::always_inline]] static bool may_contain(const std::uint64_t* block,
                                                 typename Layout::Bits bits) noexcept {
    std::uint64_t missing = 0;
    for (std::size_t word = 0; word < Layout::words; ++word) {
      missing |= Layout::mask(bits, word) & ~__atomic_load_n(block + word, __ATOMIC_RELAXED);
    }
    return missing == 0;
  }

  [[gnu::always_inline]] static bool insert(std::uint64_t* block,
                                            typename Layout::Bits bits) noexcept {
    std::uint64_t missing = 0;
    for (std::size_t word = 0; word < Layout::words; ++word) {
      const std::uint64_t before = __atomic_load_n(block + word, __ATOMIC_RELAXED);
      const std::uint64_t mask = Layout::mask(bits, word);
      missing |= mask & ~before;
      __atomic_store_n(block + word, before | mask, __ATOMIC_RELAXED);
    }
    return missing != 0;
  }
};

namespace {

struct Scalar {
  using Integers = IntegersAhead;

  template <class Layout>
  using OneKey = BlockBodyScalar<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    place_one_by_one(hashes, blocks, group);
  }
};

}  // namespace
}  // namespace guestlist
