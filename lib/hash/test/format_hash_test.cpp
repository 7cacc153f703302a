#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "guestlist/base/file.hpp"
#include "guestlist/hash/highwayhash.hpp"
#include "guestlist/hash/key_hasher.hpp"
#include "guestlist/hash/murmur3.hpp"

namespace guestlist {
namespace {

std::string pattern(std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>((131 * i + 7) & 255);
  return bytes;
}

struct Vector {
  std::size_t length = 0;
  Hash128 hash;
};

std::vector<Vector> vectors_of(const std::string& name) {
  std::vector<Vector> vectors;
  std::ifstream file(GUESTLIST_TEST_DATA "/" + name);
  Vector next;
  while (file >> std::dec >> next.length >> std::hex >> next.hash.first >> next.hash.second) {
    vectors.push_back(next);
  }
  return vectors;
}

TEST(HighwayHash, AgreesWithRedissonForEveryLength) {
  const auto vectors = vectors_of("highwayhash128.txt");
  EXPECT_EQ(60u, vectors.size());
  for (const Vector& vector : vectors) {
    EXPECT_EQ(vector.hash, highwayhash_128(pattern(vector.length), redisson_highway_key))
        << vector.length;
  }
}

TEST(HighwayHash, DoesNotDependOnAlignment) {
  const std::string bytes = "x" + pattern(77);
  EXPECT_EQ(highwayhash_128(pattern(77), redisson_highway_key),
            highwayhash_128(std::string_view(bytes).substr(1), redisson_highway_key));
}

TEST(HighwayHash, DependsOnEveryByteAndOnTheKey) {
  const std::string bytes = pattern(77);
  const Hash128 hash = highwayhash_128(bytes, redisson_highway_key);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(hash, highwayhash_128(changed, redisson_highway_key)) << at;
  }
  EXPECT_NE(hash, highwayhash_128(bytes, HighwayKey{1, 2, 3, 4}));
}

TEST(Murmur3, AgreesWithGuavaForEveryLength) {
  const auto vectors = vectors_of("murmur3_x64_128.txt");
  EXPECT_EQ(169u, vectors.size());
  for (const Vector& vector : vectors) {
    EXPECT_EQ(vector.hash, murmur3_x64_128(pattern(vector.length))) << vector.length;
  }
}

TEST(Murmur3, DoesNotDependOnAlignment) {
  for (std::size_t offset = 1; offset < 8; ++offset) {
    const std::string bytes = std::string(offset, 'x') + pattern(77);
    EXPECT_EQ(murmur3_x64_128(pattern(77)),
              murmur3_x64_128(std::string_view(bytes).substr(offset)));
  }
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

TEST(KeyHasher, TheSeedOfXxh3IsTheFirstEightBytesOfTheSecretLittleEndian) {
  std::array<std::byte, Secret::size> bytes{};
  bytes[0] = std::byte{2};
  const KeyHash two = KeyHasher::xxh3(Secret(bytes))("a");
  EXPECT_EQ(XXH3_64bits_withSeed("a", 1, 2), two.value);
  bytes[8] = std::byte{1};
  EXPECT_EQ(two, KeyHasher::xxh3(Secret(bytes))("a"));
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

class SecretFile : public testing::Test {
 protected:
  Result<Secret> read(std::string_view content) {
    const std::string path = testing::TempDir() + "guestlist_secret_test." +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
    EXPECT_TRUE(write_file(path, as_bytes(content)));
    auto secret = Secret::from_file(path);
    std::remove(path.c_str());
    return secret;
  }
};

TEST_F(SecretFile, HoldsDigitsOrRawBytes) {
  const std::string digits = "000102030405060708090a0b0c0d0e0f";
  for (const std::string& content :
       {digits, digits + "\n", digits + "\r\n", std::string(as_text(counting_secret().bytes()))}) {
    const auto secret = read(content);
    ASSERT_TRUE(secret) << secret.error().message();
    EXPECT_EQ(counting_secret(), *secret);
  }
}

TEST_F(SecretFile, IsRefusedWithAnyOtherContentAndNeverQuoted) {
  for (const char* content :
       {"", "hunter2", "000102030405060708090a0b0c0d0e", "000102030405060708090a0b0c0d0e0g",
        "000102030405060708090a0b0c0d0e0f00"}) {
    const auto secret = read(content);
    ASSERT_FALSE(secret) << content;
    EXPECT_EQ(Errc::invalid_argument, secret.error().code);
    if (*content != '\0') {
      EXPECT_EQ(std::string::npos, secret.error().message().find(content)) << content;
    }
  }
}

TEST_F(SecretFile, ThatIsMissingSaysSo) {
  EXPECT_EQ(Errc::not_found, Secret::from_file("/nowhere/secret").error().code);
}

}  // namespace
}  // namespace guestlist
