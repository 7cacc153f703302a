#include "guestlist/redis/redisson_layout.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "guestlist/hash/highwayhash.hpp"
#include "guestlist/redis/key_slot.hpp"
#include "java_numbers.hpp"

namespace guestlist {
namespace {

/// A whole number from 1 on as Java prints it: no sign, no leading zero.
std::optional<std::uint64_t> canonical_number(std::string_view text) noexcept {
  if (text.empty() || text[0] < '1' || text[0] > '9') return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::optional<double> probability(std::string_view text) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end || !(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

tl::unexpected<Error> bad_field(std::string_view field, std::string_view text) {
  return fail(
      Errc::corrupt,
      fmt::format("the filter's {} is '{}', which Redisson does not write; delete the filter "
                  "and build it anew",
                  field, text.substr(0, 40)));
}

}  // namespace

std::string redisson_config_key(std::string_view name) {
  return name.find('{') == std::string_view::npos ? fmt::format("{{{}}}:config", name)
                                                  : fmt::format("{}:config", name);
}

Result<void> check_redisson_cluster_name(std::string_view name) {
  const std::string config = redisson_config_key(name);
  if (hash_tag(name) == hash_tag(config)) return {};
  return fail(
      Errc::invalid_argument,
      fmt::format("a filter named '{}' does not work on a Cluster: its keys '{}' and '{}' fall "
                  "into different slots; take a name without braces, or with one pair of "
                  "braces that is not empty",
                  name, name, config));
}

Result<RedissonParameters> RedissonParameters::make(std::int64_t expected_insertions,
                                                    double false_probability) {
  if (false_probability > 1) {
    return fail(Errc::invalid_argument,
                fmt::format("Bloom filter false probability can't be greater than 1: it is {}",
                            false_probability));
  }
  if (false_probability < 0) {
    return fail(Errc::invalid_argument,
                fmt::format("Bloom filter false probability can't be negative: it is {}",
                            false_probability));
  }
  if (expected_insertions < 0) {
    return fail(
        Errc::invalid_argument,
        fmt::format("expected insertions can't be negative: they are {}", expected_insertions));
  }
  const auto n = static_cast<double>(expected_insertions);
  const double p =
      false_probability == 0 ? std::numeric_limits<double>::denorm_min() : false_probability;
  const auto bits =
      java_cast<std::int64_t>(-n * std::log(p) / (std::numbers::ln2 * std::numbers::ln2));
  if (bits == 0) {
    return fail(
        Errc::invalid_argument,
        fmt::format("Bloom filter calculated size is 0 for {} insertions at a probability of {}; "
                    "take at least one insertion and a lower probability",
                    expected_insertions, false_probability));
  }
  const auto size = static_cast<std::uint64_t>(bits);
  if (size > max_size) {
    return fail(
        Errc::too_large,
        fmt::format("Bloom filter size can't be greater than {}. But calculated size is {}; "
                    "take fewer insertions or a higher probability, or a native filter, which "
                    "has no such limit",
                    max_size, size));
  }
  const std::int64_t iterations = java_round(static_cast<double>(bits) / n * std::numbers::ln2);
  return RedissonParameters{size, static_cast<std::uint32_t>(std::max<std::int64_t>(1, iterations)),
                            static_cast<std::uint64_t>(expected_insertions), false_probability};
}

Result<RedissonParameters> RedissonParameters::parse(
    const std::array<std::optional<std::string_view>, 4>& values) {
  if (values == std::array<std::optional<std::string_view>, 4>{}) {
    return fail(Errc::not_found, "there is no Redisson filter of that name; create it first");
  }
  for (std::size_t field = 0; field < values.size(); ++field) {
    if (!values[field]) {
      return fail(Errc::corrupt,
                  fmt::format("the filter's {} is missing; delete the filter and build "
                              "it anew",
                              field_names[field]));
    }
  }
  const auto size = canonical_number(*values[0]);
  if (!size || *size > max_size) return bad_field(field_names[0], *values[0]);
  const auto iterations = canonical_number(*values[1]);
  if (!iterations || *iterations > max_hash_iterations) {
    return bad_field(field_names[1], *values[1]);
  }
  const auto insertions = canonical_number(*values[2]);
  if (!insertions || *insertions > std::numeric_limits<std::int64_t>::max()) {
    return bad_field(field_names[2], *values[2]);
  }
  const auto fpr = probability(*values[3]);
  if (!fpr) return bad_field(field_names[3], *values[3]);
  return RedissonParameters{*size, static_cast<std::uint32_t>(*iterations), *insertions, *fpr};
}

std::array<std::string, 4> RedissonParameters::fields() const {
  return {std::to_string(size), std::to_string(hash_iterations),
          std::to_string(expected_insertions), java_double_text(false_probability)};
}

std::optional<std::uint64_t> RedissonParameters::count(std::uint64_t bits_set) const noexcept {
  if (bits_set >= size) return std::nullopt;
  const auto m = static_cast<double>(size);
  const double clear = 1 - static_cast<double>(bits_set) / m;
  return static_cast<std::uint64_t>(
      java_round(-m / static_cast<double>(hash_iterations) * std::log(clear)));
}

RedissonProbes::RedissonProbes(std::string_view encoded, std::uint64_t size) noexcept
    : size_(size) {
  const Hash128 hash = highwayhash_128(encoded, redisson_highway_key);
  sum_ = hash.first;
  step_ = hash.second;
  other_step_ = hash.first;
}

Result<RedissonBitmap> RedissonBitmap::make(const RedissonParameters& parameters, ByteView bytes) {
  const RedisBitmap bits(bytes);
  if (bits.end() > parameters.size) {
    return fail(
        Errc::mismatched,
        fmt::format("the bitmap has bit {} set and the filter has {} bits: the bits are another "
                    "filter's; delete both and build the filter anew",
                    bits.end() - 1, parameters.size));
  }
  return RedissonBitmap(parameters, bits);
}

bool RedissonBitmap::may_contain(std::string_view encoded) const noexcept {
  RedissonProbes probes(encoded, parameters_.size);
  for (std::uint32_t i = 0; i < parameters_.hash_iterations; ++i) {
    if (!bits_.test(probes.next())) return false;
  }
  return true;
}

}  // namespace guestlist
