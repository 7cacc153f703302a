#pragma once

// Guava's BloomFilter, bit for bit: reads and writes its `writeTo` streams and answers as it does.
// For filters that Java wrote or is to read; for anything else take BloomFilter, which is faster
// and keyed.
//
// A stream holds strategy, number of probes and bits; neither funnel nor capacity nor fpr. Keys
// come here already funnelled (guava_funnel.hpp). The hash is MurmurHash3 without a secret: anyone
// can craft false positives.
//
// Format: docs/formats/guava.md. Tested by: GuavaBloomFilter.* against streams captured from
// Guava 31.1, guava_fuzz. Distinct objects: safe. Shared objects: any number of readers, or one
// writer.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/filter/storage.hpp"

namespace guestlist {

/// The numbers are those of the stream.
enum class GuavaStrategy : std::uint8_t {
  mitz_32 = 0,  ///< MURMUR128_MITZ_32: reaches the first 2^31 bits only
  mitz_64 = 1,  ///< MURMUR128_MITZ_64: what Guava has written since version 17
};

/// `mitz-32`, `mitz-64`.
std::string_view name(GuavaStrategy strategy) noexcept;

struct GuavaSize {
  std::uint64_t bits = 0;    ///< whole words of 64
  std::uint32_t probes = 0;  ///< 1 to 255
  friend constexpr bool operator==(const GuavaSize&, const GuavaSize&) noexcept = default;
};

/// How Guava computes the number of probes. The results differ for a handful of items only, and
/// readers go by the number in the stream.
enum class GuavaSizing : std::uint8_t {
  by_bits,  ///< up to 33.3: round(bits / items * ln 2)
  by_fpr,   ///< from 33.4 on: round(-ln(fpr) / ln 2)
};

/// As Guava's `create`. Errors: `invalid_argument` for an fpr that is not between 0 and 1 or gives
/// no bits or more than 255 probes; `too_large` above 2^31 - 1 words.
Result<GuavaSize> guava_size(std::uint64_t items, double fpr,
                             GuavaSizing sizing = GuavaSizing::by_bits);

class GuavaBloomFilter {
 public:
  static constexpr std::size_t header_bytes = 6;

  /// Errors: of guava_size; `invalid_argument` for mitz_32 above 2^31 bits, which it cannot reach;
  /// `too_large`.
  static Result<GuavaBloomFilter> make(std::uint64_t items, double fpr,
                                       GuavaStrategy strategy = GuavaStrategy::mitz_64,
                                       GuavaSizing sizing = GuavaSizing::by_bits);
  /// From a `writeTo` stream; bytes after it are left unread, as Guava leaves them. Never allocates
  /// more than the stream holds. Errors: `truncated`; `foreign_format` for a strategy, a number of
  /// probes or a length that Guava does not write.
  static Result<GuavaBloomFilter> read(ByteView stream);

  bool may_contain(std::string_view funnelled) const noexcept;
  /// Whether a bit changed.
  bool insert(std::string_view funnelled) noexcept;
  /// Guava's `putAll`. Errors: `mismatched`, with what differs; nothing changed then.
  Result<void> merge(const GuavaBloomFilter& other);

  GuavaStrategy strategy() const noexcept { return strategy_; }
  const GuavaSize& size() const noexcept { return size_; }
  std::uint64_t size_bytes() const noexcept { return size_.bits / 8; }
  std::uint64_t bits_set() const noexcept;
  double fill() const noexcept;
  /// Guava's `approximateElementCount`; nothing where every bit is set.
  std::optional<std::uint64_t> approximate_count() const noexcept;
  /// Guava's `expectedFpp`.
  double fpr_now() const noexcept;

  /// The stream is these bytes, then words().
  std::array<std::byte, header_bytes> header() const noexcept;
  ByteView words() const noexcept { return words_.bytes(); }

 private:
  GuavaBloomFilter(GuavaStrategy strategy, const GuavaSize& size, Storage words) noexcept
      : strategy_(strategy), size_(size), words_(std::move(words)) {}
  template <class Visit>
  bool for_each_bit(std::string_view funnelled, Visit visit) const noexcept;

  GuavaStrategy strategy_;
  GuavaSize size_;
  Storage words_;  ///< as in the stream: each word big-endian
};

}  // namespace guestlist
