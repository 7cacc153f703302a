#include "guestlist/hash/highwayhash.hpp"

#include <bit>
#include <cstring>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

using Lanes = std::array<std::uint64_t, 4>;

constexpr std::size_t packet_bytes = 32;
constexpr Lanes initial_mul0 = {0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344,
                                0x243F6A8885A308D3};
constexpr Lanes initial_mul1 = {0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C,
                                0x452821E638D01377};

constexpr std::uint64_t byte_of(std::uint64_t word, unsigned index) noexcept {
  return word >> (8 * index) & 0xFF;
}

// Interleaves the bytes of two lanes so that the high, well-mixed bytes of products land low. The
// order is the algorithm's; the first line is the even lane's result, the second the odd lane's,
// lowest byte first.
constexpr std::uint64_t zip_even(std::uint64_t odd, std::uint64_t even) noexcept {
  return byte_of(even, 3) | byte_of(odd, 4) << 8 | byte_of(even, 2) << 16 | byte_of(even, 5) << 24 |
         byte_of(odd, 6) << 32 | byte_of(even, 1) << 40 | byte_of(odd, 7) << 48 |
         byte_of(even, 0) << 56;
}

constexpr std::uint64_t zip_odd(std::uint64_t odd, std::uint64_t even) noexcept {
  return byte_of(odd, 3) | byte_of(even, 4) << 8 | byte_of(odd, 2) << 16 | byte_of(odd, 5) << 24 |
         byte_of(odd, 1) << 32 | byte_of(even, 6) << 40 | byte_of(odd, 0) << 48 |
         byte_of(even, 7) << 56;
}

class State {
 public:
  explicit State(const HighwayKey& key) noexcept : mul0_(initial_mul0), mul1_(initial_mul1) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      v0_[lane] = mul0_[lane] ^ key[lane];
      v1_[lane] = mul1_[lane] ^ std::rotl(key[lane], 32);
    }
  }

  void absorb(const Lanes& packet) noexcept {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      v1_[lane] += mul0_[lane] + packet[lane];
      mul0_[lane] ^= (v1_[lane] & 0xFFFFFFFF) * (v0_[lane] >> 32);
      v0_[lane] += mul1_[lane];
      mul1_[lane] ^= (v0_[lane] & 0xFFFFFFFF) * (v1_[lane] >> 32);
    }
    zipper_add(v1_, v0_);
    zipper_add(v0_, v1_);
  }

  void absorb(const std::byte* packet) noexcept {
    Lanes lanes;
    for (std::size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = load_little_endian<std::uint64_t>(packet + 8 * lane);
    }
    absorb(lanes);
  }

  // The last 1 to 31 bytes. Whole words are copied; what is left of a word goes to a place of its
  // own.
  void absorb_remainder(const std::byte* bytes, std::size_t size) noexcept {
    const std::size_t rest = size & 3;
    const std::size_t whole = size - rest;
    for (std::size_t lane = 0; lane < 4; ++lane) {
      v0_[lane] += (static_cast<std::uint64_t>(size) << 32) + size;
      v1_[lane] = rotate_halves(v1_[lane], static_cast<int>(size));
    }
    std::array<std::byte, packet_bytes> packet{};
    std::memcpy(packet.data(), bytes, whole);
    if ((size & 16) != 0) {
      std::memcpy(packet.data() + 28, bytes + size - 4, 4);
    } else if (rest != 0) {
      packet[16] = bytes[whole];
      packet[17] = bytes[whole + (rest >> 1)];
      packet[18] = bytes[whole + rest - 1];
    }
    absorb(packet.data());
  }

  Hash128 finish() noexcept {
    for (int round = 0; round < 6; ++round) {
      absorb(Lanes{std::rotl(v0_[2], 32), std::rotl(v0_[3], 32), std::rotl(v0_[0], 32),
                   std::rotl(v0_[1], 32)});
    }
    return {v0_[0] + mul0_[0] + v1_[2] + mul1_[2], v0_[1] + mul0_[1] + v1_[3] + mul1_[3]};
  }

 private:
  static void zipper_add(const Lanes& from, Lanes& to) noexcept {
    for (std::size_t even = 0; even < 4; even += 2) {
      to[even] += zip_even(from[even + 1], from[even]);
      to[even + 1] += zip_odd(from[even + 1], from[even]);
    }
  }

  static std::uint64_t rotate_halves(std::uint64_t word, int count) noexcept {
    const std::uint32_t low = std::rotl(static_cast<std::uint32_t>(word), count);
    const std::uint32_t high = std::rotl(static_cast<std::uint32_t>(word >> 32), count);
    return static_cast<std::uint64_t>(high) << 32 | low;
  }

  Lanes v0_;
  Lanes v1_;
  Lanes mul0_;
  Lanes mul1_;
};

}  // namespace

Hash128 highwayhash_128(std::string_view text, const HighwayKey& key) noexcept {
  State state(key);
  const std::byte* at = as_bytes(text).data();
  std::size_t left = text.size();
  for (; left >= packet_bytes; left -= packet_bytes, at += packet_bytes) state.absorb(at);
  if (left != 0) state.absorb_remainder(at, left);
  return state.finish();
}

}  // namespace guestlist
