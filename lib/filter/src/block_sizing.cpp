#include "guestlist/filter/block_sizing.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace guestlist {
namespace {

double block_bits(BlockLayout layout) noexcept {
  return static_cast<double>(block_bytes(layout) * 8);
}

double eighth_power(double base) noexcept {
  const double squared = base * base;
  const double fourth = squared * squared;
  return fourth * fourth;
}

}  // namespace

double block_fpr(BlockLayout layout, double keys) noexcept {
  switch (layout) {
    case BlockLayout::split_line:
      break;
    case BlockLayout::split_line_16: {
      const double one_clear = std::pow(63.0 / 64, 2 * keys);
      const double both_clear = std::pow(62.0 / 64, 2 * keys);
      return eighth_power((1 - one_clear) / 64 + (1 - 2 * one_clear + both_clear) * 63 / 64);
    }
    case BlockLayout::split_block:
      return eighth_power(1 - std::pow(31.0 / 32, keys));
  }
  return eighth_power(1 - std::pow(63.0 / 64, keys));
}

double fpr_at_load(BlockLayout layout, double keys_per_block) noexcept {
  assert(keys_per_block >= 0);
  if (keys_per_block == 0) return 0;
  const double reach = 12 * std::sqrt(keys_per_block) + 12;
  const double first = std::max(0.0, std::floor(keys_per_block - reach));
  const auto terms = static_cast<std::uint64_t>(std::ceil(keys_per_block + reach) - first) + 1;
  double probability =
      std::exp(first * std::log(keys_per_block) - keys_per_block - std::lgamma(first + 1));
  double sum = 0;
  for (std::uint64_t term = 0; term < terms; ++term) {
    const double keys = first + static_cast<double>(term);
    sum += probability * block_fpr(layout, keys);
    probability *= keys_per_block / (keys + 1);
  }
  return std::min(sum, 1.0);
}

double fpr_of(BlockLayout layout, std::uint64_t items, std::uint64_t blocks) noexcept {
  assert(blocks > 0);
  return fpr_at_load(layout, static_cast<double>(items) / static_cast<double>(blocks));
}

double bits_per_key_for(BlockLayout layout, double fpr) noexcept {
  assert(fpr > 0 && fpr < 1);
  // The rate falls with every bit. Both ends hold for every fpr between 1e-12 and 1.
  double too_few = 0.1;
  double enough = 1000;
  while (enough - too_few > 1e-12 * enough) {
    const double middle = (too_few + enough) / 2;
    (fpr_at_load(layout, block_bits(layout) / middle) <= fpr ? enough : too_few) = middle;
  }
  return enough;
}

std::uint64_t blocks_for(BlockLayout layout, std::uint64_t items, double fpr) noexcept {
  const double bits = static_cast<double>(items) * bits_per_key_for(layout, fpr);
  return std::max<std::uint64_t>(1,
                                 static_cast<std::uint64_t>(std::ceil(bits / block_bits(layout))));
}

std::uint64_t capacity_for(BlockLayout layout, std::uint64_t blocks, double fpr) noexcept {
  const double bits = static_cast<double>(blocks) * block_bits(layout);
  auto items = static_cast<std::uint64_t>(bits / bits_per_key_for(layout, fpr));
  // Rounding of the quotient may be off by one in either direction.
  while (blocks_for(layout, items + 1, fpr) <= blocks) ++items;
  while (items > 0 && blocks_for(layout, items, fpr) > blocks) --items;
  return items;
}

}  // namespace guestlist
