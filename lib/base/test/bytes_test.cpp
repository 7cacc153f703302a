#include "guestlist/base/bytes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace guestlist {
namespace {

TEST(Bytes, LoadsAndStoresInTheStatedOrderAtAnyAlignment) {
  std::array<std::byte, 9> buffer{};
  store_little_endian<std::uint64_t>(buffer.data() + 1, 0x0102030405060708);
  EXPECT_EQ(std::byte{8}, buffer[1]);
  EXPECT_EQ(0x0102030405060708u, load_little_endian<std::uint64_t>(buffer.data() + 1));
  EXPECT_EQ(0x0807060504030201u, load_big_endian<std::uint64_t>(buffer.data() + 1));
  store_big_endian<std::uint32_t>(buffer.data(), 0xAABBCCDD);
  EXPECT_EQ(std::byte{0xAA}, buffer[0]);
}

TEST(Bytes, HexadecimalRoundTrips) {
  EXPECT_EQ("00ff10", to_hex(*from_hex("00FF10")));
  EXPECT_EQ("", to_hex({}));
}

TEST(Bytes, HexadecimalRefusesOddLengthsAndOtherCharacters) {
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("0g"));
  EXPECT_FALSE(from_hex("0x"));
}

}  // namespace
}  // namespace guestlist
