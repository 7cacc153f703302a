#pragma once

// The "BloomFilterHelper" of many tutorials: Guava's hash over a bitmap in Redis, a SETBIT for each
// place. For bitmaps that are there already; for anything else take a native filter. It is not
// Guava's BloomFilter: the size is not rounded to words, and the order of bits is Redis's.
//
// Its flaws, as they matter here:
// - Nothing but the bits is in Redis. Who has other items or another fpr in his program than
// whoever
//   filled the bitmap reads other places and calls keys absent that exist. Nothing can detect that.
// - Above 2^31 - 1 bits the size silently stays there, and the fpr is not met
// (`GuavaBitmapSize::is_capped`).
// - The hash has no secret, and half of it is unused: anyone can craft false positives.
//
// Source: Guava's MURMUR128_MITZ_32. Tested by: GuavaBitmapLayout.* against offsets captured from
// Guava 31.1. Distinct objects: safe. Shared objects: read only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"
#include "guestlist/redis/redis_bitmap.hpp"

namespace guestlist {

struct GuavaBitmapSize {
  /// In [1, max_bits].
  std::uint32_t bits = 0;
  std::uint32_t probes = 0;

  static constexpr std::uint32_t max_bits = 2'147'483'647;

  /// Both programs must be given the same numbers. Errors: `invalid_argument` for no items, an fpr
  /// that is not between 0 and 1, and what needs no bit at all (there Java divides by zero).
  static Result<GuavaBitmapSize> make(std::uint64_t items, double fpr);

  /// Whether the formula asked for at least as many bits as there can be.
  bool is_capped() const noexcept { return bits == max_bits; }
  /// The rate of false positives with `items` in the bitmap; above what was asked for where the
  /// size is capped.
  double fpr(std::uint64_t items) const noexcept;
  /// The longest string that the bitmap can be.
  std::uint64_t size_bytes() const noexcept { return (std::uint64_t{bits} + 7) / 8; }

  friend constexpr bool operator==(const GuavaBitmapSize&,
                                   const GuavaBitmapSize&) noexcept = default;
};

/// What the tutorials' funnels feed the hash with. Both are about equally common.
enum class GuavaBitmapFunnel : std::uint8_t {
  once,   ///< putString(key, UTF_8)
  twice,  ///< putString(key, UTF_8).putString(key, UTF_8): the key two times over
};

/// `once`, `twice`.
std::string_view name(GuavaBitmapFunnel funnel) noexcept;
std::optional<GuavaBitmapFunnel> guava_bitmap_funnel_from_name(std::string_view name) noexcept;

/// The bytes that are hashed for `key`; they lie in `key` or in `buffer`. Errors:
/// `invalid_argument` where `key` is not valid UTF-8, which Java has no String for.
Result<std::string_view> funnel(GuavaBitmapFunnel funnel, std::string_view key,
                                std::string& buffer);

/// The key under which a RedisTemplate with Spring's defaults keeps what the program calls `name`:
/// the name as serialised by Java. A StringRedisTemplate keeps it under the name itself. Errors:
/// `invalid_argument` where `name` is not valid UTF-8.
Result<std::string> jdk_serialized_key(std::string_view name);

/// The places of a funnelled key in the bitmap, `probes` calls of `next`.
class GuavaBitmapProbes {
 public:
  /// Requires: bits > 0.
  GuavaBitmapProbes(std::string_view funnelled, std::uint32_t bits) noexcept;

  /// The next place, below `bits`.
  std::uint64_t next() noexcept {
    sum_ += step_;
    const bool is_negative = sum_ >> 31 != 0;
    return (is_negative ? ~sum_ : sum_) % bits_;
  }

 private:
  std::uint32_t sum_;
  std::uint32_t step_;
  std::uint32_t bits_;
};

/// Whether a whole bitmap, as GET answered it, may hold the key. The same as for RedissonBitmap: a
/// string that is not there proves nothing.
bool may_contain(const RedisBitmap& bitmap, const GuavaBitmapSize& size,
                 std::string_view funnelled) noexcept;

}  // namespace guestlist
