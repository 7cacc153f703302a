#include "guestlist/redis/guava_bitmap_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "guestlist/base/utf16.hpp"
#include "guestlist/hash/murmur3.hpp"
#include "guestlist/redis/redisson_codec.hpp"
#include "java_numbers.hpp"

namespace guestlist {

Result<GuavaBitmapSize> GuavaBitmapSize::make(std::uint64_t items, double fpr) {
  if (items == 0) {
    return fail(Errc::invalid_argument,
                "a bitmap for no items has no size; give the number of items "
                "that the program that fills it has");
  }
  if (!(fpr > 0 && fpr < 1)) {
    return fail(Errc::invalid_argument, fmt::format("an fpr of {} is not between 0 and 1", fpr));
  }
  const auto n = static_cast<double>(items);
  const auto bits =
      java_cast<std::int32_t>(-n * std::log(fpr) / (std::numbers::ln2 * std::numbers::ln2));
  if (bits == 0) {
    return fail(
        Errc::invalid_argument,
        fmt::format("{} items at an fpr of {} need no bit at all; Java divides by zero there",
                    items, fpr));
  }
  const std::int64_t probes = java_round(bits / n * std::numbers::ln2);
  return GuavaBitmapSize{static_cast<std::uint32_t>(bits),
                         static_cast<std::uint32_t>(std::max<std::int64_t>(1, probes))};
}

double GuavaBitmapSize::fpr(std::uint64_t items) const noexcept {
  const double k = probes;
  return std::pow(-std::expm1(-k * static_cast<double>(items) / bits), k);
}

std::string_view name(GuavaBitmapFunnel funnel) noexcept {
  return funnel == GuavaBitmapFunnel::once ? "once" : "twice";
}

std::optional<GuavaBitmapFunnel> guava_bitmap_funnel_from_name(std::string_view wanted) noexcept {
  for (const auto funnel : {GuavaBitmapFunnel::once, GuavaBitmapFunnel::twice}) {
    if (name(funnel) == wanted) return funnel;
  }
  return std::nullopt;
}

Result<std::string_view> funnel(GuavaBitmapFunnel funnel, std::string_view key,
                                std::string& buffer) {
  const std::size_t valid = valid_utf8_prefix(key);
  if (valid != key.size()) {
    return fail(Errc::invalid_argument,
                fmt::format("a key is not valid UTF-8 at byte {}, and Java has no String for "
                            "it; give the text that the program which fills the bitmap has",
                            valid));
  }
  // Valid UTF-8 is what Guava would hash already.
  if (funnel == GuavaBitmapFunnel::once) return key;
  buffer.assign(key).append(key);
  return buffer;
}

Result<std::string> jdk_serialized_key(std::string_view name) {
  auto units = utf16_from_utf8(name);
  if (!units) return fail(std::move(units).error());
  return encode(RedissonCodec::serialization, std::move(*units));
}

GuavaBitmapProbes::GuavaBitmapProbes(std::string_view funnelled, std::uint32_t bits) noexcept
    : bits_(bits) {
  const std::uint64_t hash = murmur3_x64_128(funnelled).first;
  sum_ = static_cast<std::uint32_t>(hash);
  step_ = static_cast<std::uint32_t>(hash >> 32);
}

bool may_contain(const RedisBitmap& bitmap, const GuavaBitmapSize& size,
                 std::string_view funnelled) noexcept {
  GuavaBitmapProbes probes(funnelled, size.bits);
  for (std::uint32_t i = 0; i < size.probes; ++i) {
    if (!bitmap.test(probes.next())) return false;
  }
  return true;
}

}  // namespace guestlist
