#pragma once

// One layer of a filter as RedisBloom keeps it: `hashes` probes x(i) = a + i * b mod 2^64, each
// taken modulo the number of bits (or masked, where that is a power of two), over bytes whose first
// bit is the least significant. Bit for bit what others read and write.
//
// A batch of queries goes in stages: two probes of every key first, and only those that survive
// touch the rest. An absent key costs 4 to 5 cache misses instead of 11 then, and all of them
// overlap. The remainder comes from a multiplication by a reciprocal.
//
// Distinct objects: safe. Shared objects: one thread. Tested by: ClassicLayer.*, the captured
// filters of bloom_chain_test.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/bit_memory.hpp"

namespace guestlist::server {

struct ClassicHash {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

/// The hash of a chain: 64 bits in everything that was written since 2018, 32 before.
class ClassicHasher {
 public:
  explicit ClassicHasher(bool is_64_bit = true) noexcept : is_64_bit_(is_64_bit) {}
  ClassicHash operator()(std::string_view item) const noexcept;
  friend bool operator==(const ClassicHasher&, const ClassicHasher&) noexcept = default;

 private:
  bool is_64_bit_;
};

/// As the formats have it.
struct ClassicLayerShape {
  std::uint64_t capacity = 0;  ///< entries
  double fpr = 0;              ///< error
  double bits_per_item = 0;    ///< bpe
  std::uint32_t hashes = 0;
  std::uint64_t bits = 0;  ///< 0 only where log2_bits says it
  std::uint8_t log2_bits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;

  friend bool operator==(const ClassicLayerShape&, const ClassicLayerShape&) = default;
};

class ClassicLayer {
 public:
  using Hasher = ClassicHasher;
  using Hash = ClassicHash;
  using Shape = ClassicLayerShape;

  /// What the smallest double asks for; no file may ask for more.
  static constexpr std::uint32_t max_hashes = 1100;

  /// As the commands have always sized it: a multiple of 64 bits. Requires: 0 < fpr < 1.
  static Shape plan(std::uint64_t capacity, double fpr);
  /// Whether no probe of a layer of this shape leaves its bytes. Files of old versions, with bits
  /// that were not rounded or not written, are possible.
  static bool is_possible(const Shape& shape) noexcept;

  static Result<ClassicLayer> make(const Shape& shape);
  ClassicLayer(const Shape& shape, BitMemory bits) noexcept;

  const Shape& shape() const noexcept { return shape_; }
  std::uint64_t capacity() const noexcept { return shape_.capacity; }
  std::uint64_t items() const noexcept { return shape_.items; }
  void count_item() noexcept { ++shape_.items; }
  void set_items(std::uint64_t items) noexcept { shape_.items = items; }
  std::uint32_t probe_count() const noexcept { return shape_.hashes; }
  std::uint64_t bit_count() const noexcept { return shape_.bits; }
  BitMemory& bits() noexcept { return bits_; }
  const BitMemory& bits() const noexcept { return bits_; }

  bool may_contain(Hash hash) const noexcept;
  void may_contain_many(std::span<const Hash> hashes, bool* found) const noexcept;
  void prefetch(Hash hash) const noexcept;
  bool insert(Hash hash) noexcept;
  /// Fetches every byte that the keys which were not found will set.
  void prepare(std::span<const Hash> hashes, const bool* found) const noexcept;

  /// The union. Requires: the same bits and hashes.
  void merge(const ClassicLayer& other) noexcept;

 private:
  std::uint64_t position(std::uint64_t probe) const noexcept;
  bool is_set(std::uint64_t bit) const noexcept;
  std::size_t survivors_of_two(std::span<const Hash> hashes, bool* found,
                               std::uint32_t* survivors) const noexcept;

  Shape shape_;
  BitMemory bits_;
  std::uint64_t modulus_;
  std::uint64_t reciprocal_;  ///< floor(2^64 / modulus), 0 where a mask does
};

}  // namespace guestlist::server
