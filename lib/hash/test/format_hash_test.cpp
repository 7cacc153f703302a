#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "guestlist/hash/highwayhash.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {
namespace {

std::string pattern(std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>((131 * i + 7) & 255);
  return bytes;
}

TEST(HighwayHash, AgreesWithRedissonForEveryLength) {
  std::ifstream vectors(GUESTLIST_TEST_DATA "/highwayhash128.txt");
  std::size_t length = 0;
  Hash128 expected;
  int checked = 0;
  while (vectors >> std::dec >> length >> std::hex >> expected.first >> expected.second) {
    EXPECT_EQ(expected, highwayhash_128(pattern(length), redisson_highway_key)) << length;
    ++checked;
  }
  EXPECT_EQ(60, checked);
}

TEST(HighwayHash, DoesNotDependOnAlignment) {
  const std::string bytes = "x" + pattern(77);
  EXPECT_EQ(highwayhash_128(pattern(77), redisson_highway_key),
            highwayhash_128(std::string_view(bytes).substr(1), redisson_highway_key));
}

Secret counting_secret() {
  std::array<std::byte, Secret::size> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return Secret(bytes);
}

// The vectors of the paper: key 00 to 0f, message 00, 01, 02 ... of each length.
TEST(KeyHasher, SipHashAgreesWithItsPublishedVectors) {
  const KeyHasher hasher = KeyHasher::siphash(counting_secret());
  std::string message;
  EXPECT_EQ(0x726FDB47DD0E0E31u, hasher(message).value);
  message += '\0';
  EXPECT_EQ(0x74F839C593DC67FDu, hasher(message).value);
  for (char c = 1; c < 15; ++c) message += c;
  EXPECT_EQ(0xA129CA6149BE45E5u, hasher(message).value);
}

TEST(KeyHasher, XxHashAgreesWithItsPublishedVectors) {
  EXPECT_EQ(0xEF46DB3751D8E999u, KeyHasher::xxh64()("").value);
  EXPECT_EQ(0x44BC2CF5AD770999u, KeyHasher::xxh64()("abc").value);
  EXPECT_EQ(0x2D06800538D394C2u, KeyHasher::xxh3(Secret())("").value);
}

TEST(KeyHasher, DependsOnKindAndSecret) {
  const Secret secret = counting_secret();
  EXPECT_NE(KeyHasher::siphash(secret)("a"), KeyHasher::siphash(Secret())("a"));
  EXPECT_NE(KeyHasher::xxh3(secret)("a"), KeyHasher::xxh3(Secret())("a"));
  EXPECT_NE(KeyHasher::siphash(secret)("a"), KeyHasher::xxh3(secret)("a"));
  EXPECT_FALSE(KeyHasher::siphash(secret) == KeyHasher::xxh3(secret));
}

TEST(Secret, FingerprintsDifferAndRevealNothingOfZero) {
  EXPECT_NE(Secret().fingerprint(), counting_secret().fingerprint());
  EXPECT_NE(0u, Secret().fingerprint());
  EXPECT_FALSE(Secret::random() == Secret::random());
}

}  // namespace
}  // namespace guestlist
