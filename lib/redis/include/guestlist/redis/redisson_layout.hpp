#pragma once

// Where Redisson's RBloomFilter keeps what, byte for byte: the names of its two keys, its
// parameters as a hash, and the bits of a key in its bitmap. What talks to Redis is
// RedissonBloomFilter; here is the pure half.
//
//   NAME             string: the bitmap. Not there until the first add
//   {NAME}:config    hash: size, hashIterations, expectedInsertions, falseProbability
//
// Parameters are read from Redis with every operation and never computed again from items and fpr:
// a client that goes by its own is wrong as soon as another one has made the filter anew. Keys come
// here already encoded (redisson_codec.hpp). The hash has no secret: anyone can craft false
// positives.
//
// Format: docs/formats/redisson.md. Source: Redisson 3.6 to 4.7. Tested by: RedissonLayout.*,
// RedissonBitmap.* against vectors captured from Redisson 4.7.0; interop/.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "guestlist/base/result.hpp"
#include "guestlist/redis/redis_bitmap.hpp"

namespace guestlist {

/// The key of a filter's parameters: `{name}:config`, or `name:config` where the name has a brace.
std::string redisson_config_key(std::string_view name);

/// Refuses a name whose two keys fall into different slots of a Cluster, where no script can reach
/// both: an unpaired or empty brace does that. Errors: `invalid_argument`, with both keys.
Result<void> check_redisson_cluster_name(std::string_view name);

struct RedissonParameters {
  /// Bits; not rounded to 8 or 64. In [1, max_size].
  std::uint64_t size = 0;
  /// In [1, max_hash_iterations].
  std::uint32_t hash_iterations = 0;
  std::uint64_t expected_insertions = 0;
  double false_probability = 0;

  /// Redisson goes no further: Integer.MAX_VALUE * 2.
  static constexpr std::uint64_t max_size = 4'294'967'294;
  /// What Redisson computes for a probability of 0. More is nothing that it has written.
  static constexpr std::uint32_t max_hash_iterations = 1074;

  /// The fields of the hash, in the order of `parse` and `fields`.
  static constexpr std::array<std::string_view, 4> field_names = {
      "size", "hashIterations", "expectedInsertions", "falseProbability"};

  /// As `tryInit(expectedInsertions, falseProbability)`, with Java's sentence at the head of each
  /// message. Java takes negative insertions and stores a negative size; they are refused here.
  /// Errors: `invalid_argument`, `too_large`.
  static Result<RedissonParameters> make(std::int64_t expected_insertions,
                                         double false_probability);

  /// From the values of `field_names`, as HMGET answers.
  /// Errors: `not_found` where there is none of them; `corrupt` where one is missing, is not what
  /// Redisson writes (whole numbers are canonical decimals) or is out of range.
  static Result<RedissonParameters> parse(
      const std::array<std::optional<std::string_view>, 4>& values);

  /// The texts that Redisson stores, and compares, for these parameters.
  std::array<std::string, 4> fields() const;

  /// The longest string that the bitmap can be.
  std::uint64_t size_bytes() const noexcept { return (size + 7) / 8; }

  /// Redisson's count() for a bitmap with so many bits set; nothing where all are, for which Java
  /// answers Long.MAX_VALUE, or where there are more than the filter has.
  std::optional<std::uint64_t> count(std::uint64_t bits_set) const noexcept;

  friend constexpr bool operator==(const RedissonParameters&,
                                   const RedissonParameters&) noexcept = default;
};

/// The places of an encoded key in the bitmap, `hash_iterations` calls of `next`. A key may have
/// the same place twice.
class RedissonProbes {
 public:
  /// Requires: size > 0.
  RedissonProbes(std::string_view encoded, std::uint64_t size) noexcept;

  /// The next place, below `size`.
  std::uint64_t next() noexcept {
    constexpr std::uint64_t positive = ~std::uint64_t{0} >> 1;
    const std::uint64_t place = (sum_ & positive) % size_;
    // The halves of the hash are added by turns, the second first.
    sum_ += step_;
    std::swap(step_, other_step_);
    return place;
  }

 private:
  std::uint64_t sum_;
  std::uint64_t step_;
  std::uint64_t other_step_;
  std::uint64_t size_;
};

/// A whole bitmap at hand, as GET answered it, to be asked without Redis.
///
/// A string that is not there proves nothing: Redis drops it when it evicts, and Redisson makes it
/// with the first add. Whoever holds no string must answer `unknown`.
class RedissonBitmap {
 public:
  /// Requires: `bytes` outlives the bitmap. Errors: `mismatched` where a bit is set behind the
  /// filter's size, so that the bits are another filter's.
  static Result<RedissonBitmap> make(const RedissonParameters& parameters, ByteView bytes);

  bool may_contain(std::string_view encoded) const noexcept;
  std::optional<std::uint64_t> count() const noexcept { return parameters_.count(bits_.count()); }
  const RedisBitmap& bits() const noexcept { return bits_; }
  const RedissonParameters& parameters() const noexcept { return parameters_; }

 private:
  RedissonBitmap(const RedissonParameters& parameters, RedisBitmap bits) noexcept
      : parameters_(parameters), bits_(bits) {}

  RedissonParameters parameters_;
  RedisBitmap bits_;
};

}  // namespace guestlist
