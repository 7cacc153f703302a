#include "guestlist/filter/classic_sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace guestlist {
namespace {

double bits_needed(double items, double fpr, std::uint32_t probes) {
  // fpr = (1 - exp(-k n / m))^k, solved for m.
  const double k = probes;
  return -k * items / std::log1p(-std::pow(fpr, 1 / k));
}

}  // namespace

ClassicSize classic_size(std::uint64_t items, double fpr) {
  const auto n = static_cast<double>(items);
  // The best k is log2(1/fpr), which is rarely whole: take the better neighbour.
  const double ideal = -std::log2(fpr);
  const auto low = static_cast<std::uint32_t>(std::max(1.0, std::floor(ideal)));
  const double low_bits = bits_needed(n, fpr, low);
  const double high_bits = bits_needed(n, fpr, low + 1);
  const bool take_low = low_bits <= high_bits;
  const double bits = std::ceil(take_low ? low_bits : high_bits);
  return {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bits)), take_low ? low : low + 1};
}

double classic_fpr(const ClassicSize& size, std::uint64_t items) {
  const double k = size.probes;
  const double load = k * static_cast<double>(items) / static_cast<double>(size.bits);
  return std::pow(-std::expm1(-load), k);
}

std::uint64_t classic_capacity(const ClassicSize& size, double fpr) {
  const double k = size.probes;
  const double load = -std::log1p(-std::pow(fpr, 1 / k));
  auto items = static_cast<std::uint64_t>(load * static_cast<double>(size.bits) / k);
  // Rounding may put the estimate one off in either direction.
  while (items > 0 && classic_fpr(size, items) > fpr) --items;
  while (classic_fpr(size, items + 1) <= fpr) ++items;
  return items;
}

std::uint64_t classic_count(const ClassicSize& size, std::uint64_t bits_set) {
  const auto m = static_cast<double>(size.bits);
  // A full array has no finite estimate; half a clear bit gives the largest that means something.
  const double clear = std::max(0.5, m - static_cast<double>(bits_set));
  return static_cast<std::uint64_t>(std::llround(-m / size.probes * std::log(clear / m)));
}

}  // namespace guestlist
