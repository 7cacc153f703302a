#include "guestlist/redis/redis_bitmap.hpp"

#include <bit>

namespace guestlist {

std::uint64_t RedisBitmap::count() const noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::uint64_t set = 0;
  std::size_t at = 0;
  for (; at + word <= bytes_.size(); at += word) {
    set += static_cast<std::uint64_t>(
        std::popcount(load_little_endian<std::uint64_t>(bytes_.data() + at)));
  }
  for (; at < bytes_.size(); ++at) {
    set += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(bytes_[at])));
  }
  return set;
}

std::uint64_t RedisBitmap::end() const noexcept {
  std::uint64_t size = bytes_.size();
  while (size > 0 && bytes_[size - 1] == std::byte{0}) --size;
  if (size == 0) return 0;
  return size * 8 -
         static_cast<std::uint64_t>(std::countr_zero(std::to_integer<unsigned>(bytes_[size - 1])));
}

}  // namespace guestlist
