#include "guestlist/redis/redis_bitmap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

namespace guestlist {
namespace {

TEST(RedisBitmap, CountsBitsFromTheMostSignificant) {
  const std::vector<std::byte> bytes = {std::byte{0x80}, std::byte{0x01}};
  const RedisBitmap bitmap(bytes);
  EXPECT_TRUE(bitmap.test(0));
  EXPECT_FALSE(bitmap.test(1));
  EXPECT_FALSE(bitmap.test(7));
  EXPECT_TRUE(bitmap.test(15));
  EXPECT_EQ(2u, bitmap.count());
  EXPECT_EQ(16u, bitmap.end());
}

TEST(RedisBitmap, HasNoBitBehindItsEnd) {
  const RedisBitmap empty(ByteView{});
  EXPECT_FALSE(empty.test(0));
  EXPECT_FALSE(empty.test(~std::uint64_t{0}));
  EXPECT_EQ(0u, empty.count());
  EXPECT_EQ(0u, empty.end());
}

TEST(RedisBitmap, HoldsExactlyTheBitsThatWereSet) {
  EXPECT_TRUE(rc::check([](const std::set<std::uint16_t>& places, std::uint8_t zeros) {
    const std::uint64_t end = places.empty() ? 0 : *places.rbegin() + 1U;
    std::vector<std::byte> bytes((end + 7) / 8 + zeros);
    for (const std::uint16_t place : places) {
      bytes[redis_byte_of_bit(place)] |= redis_mask_of_bit(place);
    }
    const RedisBitmap bitmap(bytes);
    RC_ASSERT(bitmap.count() == places.size());
    RC_ASSERT(bitmap.end() == end);
    for (std::uint64_t bit = 0; bit < end + 100; ++bit) {
      const bool was_set = bit < end && places.contains(static_cast<std::uint16_t>(bit));
      RC_ASSERT(bitmap.test(bit) == was_set);
    }
  }));
}

}  // namespace
}  // namespace guestlist
