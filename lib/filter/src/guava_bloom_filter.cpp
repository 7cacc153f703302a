#include "guestlist/filter/guava_bloom_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "guestlist/hash/murmur3.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t max_words = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t max_probes = 255;
constexpr std::uint64_t max_mitz_32_bits = std::uint64_t{1} << 31;

/// Java's cast of a double to a long: towards zero, saturating.
std::uint64_t java_long(double value) noexcept {
  constexpr double limit = 0x1p63;
  return value >= limit ? std::numeric_limits<std::int64_t>::max()
                        : static_cast<std::uint64_t>(value);
}

/// Java's Math.round of a value that is not negative.
std::uint32_t java_round(double value) noexcept {
  return static_cast<std::uint32_t>(std::floor(value + 0.5));
}

constexpr std::uint64_t byte_of_bit(std::uint64_t bit) noexcept {
  // Words are big-endian: the byte of the lowest bits comes last.
  return (bit >> 6) * 8 + 7 - ((bit & 63) >> 3);
}

constexpr std::byte mask_of_bit(std::uint64_t bit) noexcept {
  return std::byte{1} << (bit & 7);
}

}  // namespace

std::string_view name(GuavaStrategy strategy) noexcept {
  return strategy == GuavaStrategy::mitz_32 ? "mitz-32" : "mitz-64";
}

Result<GuavaSize> guava_size(std::uint64_t items, double fpr, GuavaSizing sizing) {
  if (!(fpr > 0 && fpr < 1)) {
    return fail(Errc::invalid_argument, fmt::format("an fpr of {} is not between 0 and 1", fpr));
  }
  const double n = static_cast<double>(std::max<std::uint64_t>(1, items));
  const std::uint64_t bits =
      java_long(-n * std::log(fpr) / (std::numbers::ln2 * std::numbers::ln2));
  const std::uint32_t probes =
      std::max(1U, sizing == GuavaSizing::by_bits
                       ? java_round(static_cast<double>(bits) / n * std::numbers::ln2)
                       : java_round(-std::log(fpr) / std::numbers::ln2));
  if (bits == 0) {
    return fail(Errc::invalid_argument,
                fmt::format("{} items at an fpr of {} need no bit at all", items, fpr));
  }
  if (probes > max_probes) {
    return fail(Errc::invalid_argument,
                fmt::format("an fpr of {} needs {} probes; Guava has at most 255", fpr, probes));
  }
  const std::uint64_t words = bits / 64 + (bits % 64 != 0);
  if (words > max_words) {
    return fail(Errc::too_large,
                fmt::format("{} items at an fpr of {} need {} words; Guava has at most 2^31 - 1",
                            items, fpr, words));
  }
  return GuavaSize{words * 64, probes};
}

Result<GuavaBloomFilter> GuavaBloomFilter::make(std::uint64_t items, double fpr,
                                                GuavaStrategy strategy, GuavaSizing sizing) {
  const auto size = guava_size(items, fpr, sizing);
  if (!size) return fail(size.error());
  if (strategy == GuavaStrategy::mitz_32 && size->bits > max_mitz_32_bits) {
    return fail(
        Errc::invalid_argument,
        fmt::format("mitz-32 reaches 2^31 bits and {} are needed; take mitz-64", size->bits));
  }
  auto words = Storage::allocate(size->bits / 8);
  if (!words) return fail(std::move(words).error());
  return GuavaBloomFilter(strategy, *size, std::move(*words));
}

Result<GuavaBloomFilter> GuavaBloomFilter::read(ByteView stream) {
  if (stream.size() < header_bytes) {
    return fail(Errc::truncated, fmt::format("a Guava stream has at least {} bytes, this one {}",
                                             header_bytes, stream.size()));
  }
  const auto strategy = std::to_integer<unsigned>(stream[0]);
  const auto probes = std::to_integer<std::uint32_t>(stream[1]);
  const auto words = static_cast<std::int32_t>(load_big_endian<std::uint32_t>(stream.data() + 2));
  if (strategy > 1 || probes == 0 || words <= 0) {
    return fail(Errc::foreign_format,
                fmt::format("not a Guava stream: strategy {}, {} probes, {} words", strategy,
                            probes, words));
  }
  // What the stream says is believed only as far as its bytes reach, before anything is allocated.
  const std::uint64_t size_bytes = static_cast<std::uint64_t>(words) * 8;
  const std::uint64_t there = stream.size() - header_bytes;
  if (there < size_bytes) {
    return fail(Errc::truncated, fmt::format("the Guava stream says {} bytes of bits and has {}",
                                             size_bytes, there));
  }
  auto storage = Storage::allocate(size_bytes);
  if (!storage) return fail(std::move(storage).error());
  std::memcpy(storage->mutable_data(), stream.data() + header_bytes, size_bytes);
  return GuavaBloomFilter(static_cast<GuavaStrategy>(strategy), {size_bytes * 8, probes},
                          std::move(*storage));
}

/// Calls `visit` with each bit of the key while it returns true. True: it always did.
template <class Visit>
bool GuavaBloomFilter::for_each_bit(std::string_view funnelled, Visit visit) const noexcept {
  constexpr std::uint64_t positive = ~std::uint64_t{0} >> 1;
  const Hash128 hash = murmur3_x64_128(funnelled);
  if (strategy_ == GuavaStrategy::mitz_64) {
    std::uint64_t combined = hash.first;
    for (std::uint32_t i = 0; i < size_.probes; ++i, combined += hash.second) {
      if (!visit((combined & positive) % size_.bits)) return false;
    }
    return true;
  }
  const auto first = static_cast<std::uint32_t>(hash.first);
  const auto second = static_cast<std::uint32_t>(hash.first >> 32);
  std::uint32_t combined = first;
  for (std::uint32_t i = 0; i < size_.probes; ++i) {
    combined += second;
    const bool is_negative = (combined >> 31) != 0;
    if (!visit((is_negative ? ~combined : combined) % size_.bits)) return false;
  }
  return true;
}

bool GuavaBloomFilter::may_contain(std::string_view funnelled) const noexcept {
  const std::byte* const words = words_.data();
  return for_each_bit(funnelled, [words](std::uint64_t bit) {
    return (words[byte_of_bit(bit)] & mask_of_bit(bit)) != std::byte{0};
  });
}

bool GuavaBloomFilter::insert(std::string_view funnelled) noexcept {
  std::byte* const words = words_.mutable_data();
  bool changed = false;
  for_each_bit(funnelled, [words, &changed](std::uint64_t bit) {
    std::byte& byte = words[byte_of_bit(bit)];
    changed |= (byte & mask_of_bit(bit)) == std::byte{0};
    byte |= mask_of_bit(bit);
    return true;
  });
  return changed;
}

Result<void> GuavaBloomFilter::merge(const GuavaBloomFilter& other) {
  if (size_.probes != other.size_.probes) {
    return fail(Errc::mismatched,
                fmt::format("{} and {} probes", size_.probes, other.size_.probes));
  }
  if (size_.bits != other.size_.bits) {
    return fail(Errc::mismatched, fmt::format("{} and {} bits", size_.bits, other.size_.bits));
  }
  if (strategy_ != other.strategy_) {
    return fail(Errc::mismatched,
                fmt::format("strategies {} and {}", name(strategy_), name(other.strategy_)));
  }
  std::byte* const to = words_.mutable_data();
  const std::byte* const from = other.words_.data();
  for (std::uint64_t at = 0; at < size_bytes(); ++at) to[at] |= from[at];
  return {};
}

std::uint64_t GuavaBloomFilter::bits_set() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at < size_bytes(); at += 8) {
    count += static_cast<std::uint64_t>(
        std::popcount(load_little_endian<std::uint64_t>(words_.data() + at)));
  }
  return count;
}

double GuavaBloomFilter::fill() const noexcept {
  return static_cast<double>(bits_set()) / static_cast<double>(size_.bits);
}

std::optional<std::uint64_t> GuavaBloomFilter::approximate_count() const noexcept {
  const double share = fill();
  if (share >= 1) return std::nullopt;
  return static_cast<std::uint64_t>(
      std::llround(-std::log1p(-share) * static_cast<double>(size_.bits) / size_.probes));
}

double GuavaBloomFilter::fpr_now() const noexcept {
  return std::pow(fill(), size_.probes);
}

std::array<std::byte, GuavaBloomFilter::header_bytes> GuavaBloomFilter::header() const noexcept {
  std::array<std::byte, header_bytes> bytes{};
  bytes[0] = static_cast<std::byte>(strategy_);
  bytes[1] = static_cast<std::byte>(size_.probes);
  store_big_endian(bytes.data() + 2, static_cast<std::uint32_t>(size_.bits / 64));
  return bytes;
}

}  // namespace guestlist
