#pragma once

// The bodies of the blocked filters, one table an instruction set and layout, chosen once at run
// time. All bodies set the same bits and give the same answers; Kernels.* in filter_test holds them
// against each other.
//
// `words` is the first word of the first block, 64-byte aligned. Readers may run beside one plain
// writer, or beside any number of concurrent ones (BlockArray::insert_concurrently): bits only go
// from 0 to 1, and the machine loads each aligned word whole, so whatever a vector load sees was
// true at some moment.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "guestlist/filter/block_layout.hpp"

namespace guestlist {

/// Whether ThreadSanitizer is built in, as g++ and as clang say it. Only the scalar bodies run
/// then: their loads are atomic, and those of the others are not by the letter.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool races_are_watched = true;
#elif defined(__has_feature)
inline constexpr bool races_are_watched = __has_feature(thread_sanitizer);
#else
inline constexpr bool races_are_watched = false;
#endif

enum class Isa : std::uint8_t { scalar, avx2, avx512, neon };

/// `scalar`, `avx2`, `avx512`, `neon`.
std::string_view name(Isa isa) noexcept;

struct BlockKernels {
  bool (*may_contain)(const std::uint64_t* words, std::uint64_t blocks,
                      std::uint64_t hash) noexcept;
  /// Whether a bit changed.
  bool (*insert)(std::uint64_t* words, std::uint64_t blocks, std::uint64_t hash) noexcept;
  void (*may_contain_many)(const std::uint64_t* words, std::uint64_t blocks,
                           const std::uint64_t* hashes, std::size_t count, bool* found) noexcept;
  /// How many changed a bit.
  std::size_t (*insert_many)(std::uint64_t* words, std::uint64_t blocks,
                             const std::uint64_t* hashes, std::size_t count) noexcept;
  /// The same for integers, hashed on the way by IntegerHasher{seed}.
  void (*may_contain_integers)(const std::uint64_t* words, std::uint64_t blocks, std::uint64_t seed,
                               const std::uint64_t* keys, std::size_t count, bool* found) noexcept;
  std::size_t (*insert_integers)(std::uint64_t* words, std::uint64_t blocks, std::uint64_t seed,
                                 const std::uint64_t* keys, std::size_t count) noexcept;
};

/// Whether this build has bodies for `isa` and this machine can run them.
bool is_supported(Isa isa) noexcept;

/// The fastest supported; `scalar` where races are watched.
Isa best_isa() noexcept;

/// Requires: is_supported(isa).
const BlockKernels& block_kernels(Isa isa, BlockLayout layout) noexcept;

}  // namespace guestlist
