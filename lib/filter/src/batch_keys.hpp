#pragma once

// Where the hashes of a batch come from: ready, or made on the way from integers. A body whose
// instruction set hashes several integers at once brings its own source of them.
//
// Local to the unit that includes it, as batch.hpp.

#include <cstddef>
#include <cstdint>

#include "guestlist/hash/integer_hash.hpp"
#include "key_group.hpp"

namespace guestlist {
namespace {

/// Keys that come hashed.
struct Hashes {
  const std::uint64_t* hashes;

  [[gnu::always_inline]] const std::uint64_t* group(std::size_t index) noexcept {
    return hashes + index * group_size;
  }
  [[gnu::always_inline]] std::uint64_t one(std::size_t index) const noexcept {
    return hashes[index];
  }
};

/// Integers, hashed one by one and a group ahead of their use, since eight small stores followed at
/// once by one wide load of them stall. Requires: groups are asked for in order.
struct IntegersAhead {
  const std::uint64_t* keys;
  std::size_t groups;
  IntegerHasher hasher;
  alignas(64) std::uint64_t ready[2][group_size] = {};

  IntegersAhead(std::uint64_t seed, const std::uint64_t* first_key, std::size_t count) noexcept
      : keys(first_key), groups(count / group_size), hasher{seed} {
    if (groups != 0) hash(0);
  }

  [[gnu::always_inline]] const std::uint64_t* group(std::size_t index) noexcept {
    if (index + 1 < groups) hash(index + 1);
    return ready[index % 2];
  }
  [[gnu::always_inline]] std::uint64_t one(std::size_t index) const noexcept {
    return hasher(keys[index]).value;
  }

 private:
  [[gnu::always_inline]] void hash(std::size_t index) noexcept {
    for (std::size_t key = 0; key < group_size; ++key) {
      ready[index % 2][key] = hasher(keys[index * group_size + key]).value;
    }
  }
};

}  // namespace
}  // namespace guestlist
