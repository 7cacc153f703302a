#include "guestlist/redis/key_slot.hpp"

#include <gtest/gtest.h>

namespace guestlist {
namespace {

// CLUSTER KEYSLOT of redis-server 7.0.15.
TEST(KeySlot, IsThatOfRedis) {
  EXPECT_EQ(key_slot("123456789"), 12739);
  EXPECT_EQ(key_slot("foo"), 12182);
  EXPECT_EQ(key_slot(""), 0);
  EXPECT_EQ(key_slot("{user1000}.following"), key_slot("user1000"));
}

TEST(KeySlot, ReadsTheTagAsRedisDoes) {
  EXPECT_EQ(hash_tag("a{b}c"), "b");
  EXPECT_EQ(hash_tag("a{b}c{d}"), "b");
  EXPECT_EQ(hash_tag("a{{b}}"), "{b");
  EXPECT_EQ(hash_tag("a{}b"), "a{}b");
  EXPECT_EQ(hash_tag("a{}{b}"), "a{}{b}");
  EXPECT_EQ(hash_tag("a{b"), "a{b");
  EXPECT_EQ(hash_tag("a}b"), "a}b");
}

}  // namespace
}  // namespace guestlist
