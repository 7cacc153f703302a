#pragma once

// The places of a key in an array of any length: double hashing with a scaled quadratic term.
//
//   x(0) = h,  y(0) = mix(h) | 1
//   index(i) = high 64 bits of x(i) * length
//   x(i+1) = x(i) + y(i),  y(i+1) = y(i) + (i + 1) * 0x9E3779B97F4A7C15
//
// Plain double hashing puts all places of a key next to each other where its step happens to be
// small; the quadratic term, the same for every key, spreads them. Lengths up to 2^64 work, and k
// is not limited. The sequence is part of the file format.
//
// Source: Kirsch and Mitzenmacher 2006; Dillinger and Manolios 2004 ("enhanced double hashing").

#include <cstdint>

#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

class ProbeSequence {
 public:
  ProbeSequence(KeyHash hash, std::uint64_t length) noexcept
      : x_(hash.value), y_(mix(hash.value) | 1), length_(length) {}

  /// The next place, below `length`.
  std::uint64_t next() noexcept {
    const auto index = static_cast<std::uint64_t>(static_cast<Wide>(x_) * length_ >> 64);
    x_ += y_;
    y_ += ++count_ * spread;
    return index;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;

  static constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ value >> 32) * 0xD6E8FEB86659FD93;
    value = (value ^ value >> 32) * 0xD6E8FEB86659FD93;
    return value ^ value >> 32;
  }

  std::uint64_t x_;
  std::uint64_t y_;
  std::uint64_t length_;
  std::uint64_t count_ = 0;
};

}  // namespace guestlist
