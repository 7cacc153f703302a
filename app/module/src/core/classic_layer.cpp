#include "core/classic_layer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "guestlist/filter/block_bits.hpp"
#include "guestlist/hash/murmur2.hpp"

namespace guestlist::server {
namespace {

// The literals of the format: ln(2)^2 and ln(2), to as many digits as they were always written.
constexpr double ln2_squared = 0.480453013918201;
constexpr double ln2 = 0.693147180559945;

constexpr std::size_t asked_at_once = 512;
/// Keys whose remaining probes are under way together.
constexpr std::size_t keys_in_flight = 32;
/// Probes of one key that are.
constexpr std::uint32_t probes_in_flight = 16;

}  // namespace

ClassicHash ClassicHasher::operator()(std::string_view item) const noexcept {
  if (is_64_bit_) [[likely]] {
    const std::uint64_t a = murmur2_64(item, 0xC6A4A7935BD1E995);
    return {a, murmur2_64(item, a)};
  }
  const std::uint32_t a = murmur2_32(item, 0x9747B28C);
  return {a, murmur2_32(item, a)};
}

ClassicLayerShape ClassicLayer::plan(std::uint64_t capacity, double fpr) {
  ClassicLayerShape shape;
  shape.capacity = capacity;
  shape.fpr = fpr;
  shape.bits_per_item = std::fabs(std::log(fpr)) / ln2_squared;
  shape.hashes = static_cast<std::uint32_t>(std::ceil(ln2 * shape.bits_per_item));
  const double bits = static_cast<double>(capacity) * shape.bits_per_item;
  const auto whole = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bits));
  shape.bytes = (whole + 63) / 64 * 8;
  shape.bits = shape.bytes * 8;
  return shape;
}

bool ClassicLayer::is_possible(const Shape& shape) noexcept {
  if (!(shape.fpr > 0 && shape.fpr < 1) || shape.hashes == 0 || shape.hashes > max_hashes)
    return false;
  if (shape.bytes == 0 || shape.bytes > std::uint64_t{1} << 56) return false;
  const std::uint64_t room = shape.bytes * 8;
  if (shape.log2_bits > 59) return false;
  if (shape.log2_bits != 0) {
    return std::uint64_t{1} << shape.log2_bits <= room && shape.bits <= room;
  }
  return shape.bits > 0 && shape.bits <= room;
}

Result<ClassicLayer> ClassicLayer::make(const Shape& shape) {
  assert(is_possible(shape));
  auto bits = BitMemory::zeroed(shape.bytes);
  if (!bits) return fail(std::move(bits).error());
  ClassicLayer layer(shape, *std::move(bits));
  layer.shape_.items = 0;
  return layer;
}

ClassicLayer::ClassicLayer(const Shape& shape, BitMemory bits) noexcept
    : shape_(shape),
      bits_(std::move(bits)),
      modulus_(shape.log2_bits != 0 ? std::uint64_t{1} << shape.log2_bits : shape.bits),
      reciprocal_(0) {
  assert(bits_.size_bytes() == shape.bytes);
  const bool is_mask = (modulus_ & (modulus_ - 1)) == 0;
  // For a modulus that divides 2^64 the mask gives the same remainder.
  if (!is_mask) reciprocal_ = ~std::uint64_t{0} / modulus_;
}

// The quotient by the reciprocal is at most one too small, so one correction is enough.
inline std::uint64_t ClassicLayer::position(std::uint64_t probe) const noexcept {
  if (reciprocal_ == 0) return probe & (modulus_ - 1);
  const std::uint64_t rest = probe - multiply_high(probe, reciprocal_) * modulus_;
  return rest >= modulus_ ? rest - modulus_ : rest;
}

inline bool ClassicLayer::is_set(std::uint64_t bit) const noexcept {
  const auto byte = std::to_integer<unsigned>(bits_.data()[bit >> 3]);
  return ((byte >> (bit & 7)) & 1) != 0;
}

bool ClassicLayer::may_contain(Hash hash) const noexcept {
  std::uint64_t probe = hash.a;
  for (std::uint32_t i = 0; i < shape_.hashes; ++i, probe += hash.b) {
    if (!is_set(position(probe))) return false;
  }
  return true;
}

void ClassicLayer::prefetch(Hash hash) const noexcept {
  __builtin_prefetch(bits_.data() + (position(hash.a) >> 3));
  __builtin_prefetch(bits_.data() + (position(hash.a + hash.b) >> 3));
}

// Sets `found` to whether the first two probes hit, and lists those that did.
std::size_t ClassicLayer::survivors_of_two(std::span<const Hash> hashes, bool* found,
                                           std::uint32_t* survivors) const noexcept {
  std::array<std::array<std::uint64_t, 2>, asked_at_once> bits;
  const bool has_second = shape_.hashes > 1;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    bits[i][0] = position(hashes[i].a);
    bits[i][1] = has_second ? position(hashes[i].a + hashes[i].b) : bits[i][0];
    __builtin_prefetch(bits_.data() + (bits[i][0] >> 3));
    __builtin_prefetch(bits_.data() + (bits[i][1] >> 3));
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    found[i] = (static_cast<int>(is_set(bits[i][0])) & static_cast<int>(is_set(bits[i][1]))) != 0;
    survivors[count] = static_cast<std::uint32_t>(i);
    count += found[i] ? 1 : 0;
  }
  return count;
}

void ClassicLayer::may_contain_many(std::span<const Hash> hashes, bool* found) const noexcept {
  std::array<std::uint32_t, asked_at_once> survivors;
  for (std::size_t start = 0; start < hashes.size(); start += asked_at_once) {
    const auto some = hashes.subspan(start, std::min(asked_at_once, hashes.size() - start));
    bool* const answers = found + start;
    const std::size_t open = survivors_of_two(some, answers, survivors.data());
    if (shape_.hashes <= 2) continue;
    const std::uint32_t ahead = std::min(shape_.hashes - 2, probes_in_flight);
    std::array<std::array<std::uint64_t, probes_in_flight>, keys_in_flight> bits;
    for (std::size_t first = 0; first < open; first += keys_in_flight) {
      const std::size_t keys = std::min(keys_in_flight, open - first);
      for (std::size_t key = 0; key < keys; ++key) {
        const Hash hash = some[survivors[first + key]];
        std::uint64_t probe = hash.a + 2 * hash.b;
        for (std::uint32_t i = 0; i < ahead; ++i, probe += hash.b) {
          bits[key][i] = position(probe);
          __builtin_prefetch(bits_.data() + (bits[key][i] >> 3));
        }
      }
      for (std::size_t key = 0; key < keys; ++key) {
        bool all = true;
        for (std::uint32_t i = 0; i < ahead; ++i) all &= is_set(bits[key][i]);
        const Hash hash = some[survivors[first + key]];
        std::uint64_t probe = hash.a + std::uint64_t{2 + ahead} * hash.b;
        for (std::uint32_t i = 2 + ahead; all && i < shape_.hashes; ++i, probe += hash.b)
          all = is_set(position(probe));
        answers[survivors[first + key]] = all;
      }
    }
  }
}

bool ClassicLayer::insert(Hash hash) noexcept {
  bool changed = false;
  std::uint64_t probe = hash.a;
  for (std::uint32_t i = 0; i < shape_.hashes; ++i, probe += hash.b) {
    const std::uint64_t bit = position(probe);
    std::byte& byte = bits_.data()[bit >> 3];
    const auto mask = static_cast<std::byte>(1U << (bit & 7));
    changed |= (byte & mask) == std::byte{0};
    byte |= mask;
  }
  return changed;
}

void ClassicLayer::prepare(std::span<const Hash> hashes, const bool* found) const noexcept {
  for (std::size_t key = 0; key < hashes.size(); ++key) {
    if (found[key]) continue;
    std::uint64_t probe = hashes[key].a;
    for (std::uint32_t i = 0; i < shape_.hashes; ++i, probe += hashes[key].b)
      __builtin_prefetch(bits_.data() + (position(probe) >> 3), 1);
  }
}

void ClassicLayer::merge(const ClassicLayer& other) noexcept {
  assert(bits_.size_bytes() == other.bits_.size_bytes());
  for (std::uint64_t byte = 0; byte < bits_.size_bytes(); ++byte)
    bits_.data()[byte] |= other.bits_.data()[byte];
}

}  // namespace guestlist::server
