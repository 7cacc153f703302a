#include "guestlist/filter/classic_sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace guestlist {
namespace {

double large_array_bits(double items, double fpr, std::uint32_t probes) {
  // fpr = (1 - exp(-k n / m))^k, solved for m. A smaller array never does.
  const double k = probes;
  return -k * items / std::log1p(-std::pow(fpr, 1 / k));
}

std::uint64_t smallest_bits(std::uint64_t items, double fpr, std::uint32_t probes) {
  const auto keeps = [&](std::uint64_t bits) { return classic_fpr({bits, probes}, items) <= fpr; };
  const double large = large_array_bits(static_cast<double>(items), fpr, probes);
  std::uint64_t too_small = static_cast<std::uint64_t>(std::ceil(large)) - 1;
  std::uint64_t step = 1;
  while (!keeps(too_small + step)) step *= 2;
  for (; step > 1; step /= 2) {
    if (!keeps(too_small + step / 2)) too_small += step / 2;
  }
  return too_small + 1;
}

}  // namespace

ClassicSize classic_size(std::uint64_t items, double fpr) {
  // The best k is about log2(1/fpr), which is rarely whole, and less where arrays are small.
  const auto ideal = static_cast<std::uint32_t>(-std::log2(fpr));
  ClassicSize best;
  for (std::uint32_t probes = std::max(2U, ideal) - 1; probes <= ideal + 1; ++probes) {
    const std::uint64_t bits = smallest_bits(items, fpr, probes);
    if (best.bits == 0 || bits < best.bits) best = {bits, probes};
  }
  return best;
}

double classic_fpr(const ClassicSize& size, std::uint64_t items) {
  if (items == 0) return 0;
  if (size.bits == 1) return 1;
  const auto m = static_cast<double>(size.bits);
  const double k = size.probes;
  const double throws = k * static_cast<double>(items);
  // Mean and variance of the share of bits that are set, by bins and balls.
  const double log_clear_once = std::log1p(-1 / m);
  const double clear = std::exp(throws * log_clear_once);
  const double set = -std::expm1(throws * log_clear_once);
  const double both_clear_apart = throws * std::log1p(-1 / ((m - 1) * (m - 1)));
  const double variance = clear / m + clear * clear * std::expm1(both_clear_apart + log_clear_once);
  // share^k is convex: its mean is above the mean's power by what the variance says.
  return std::min(1.0, std::pow(set, k) * std::exp(k * (k - 1) / 2 * variance / (set * set)));
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
