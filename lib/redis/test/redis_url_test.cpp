#include "guestlist/redis/redis_url.hpp"

#include <gtest/gtest.h>

namespace guestlist {
namespace {

TEST(RedisUrl, ReadsEachPart) {
  const auto url = RedisUrl::parse("rediss://me:p%40ss%2F@host:7000/3?filter=a%26b&as=redisson");
  ASSERT_TRUE(url) << url.error().message();
  EXPECT_EQ(url->topology, RedisTopology::standalone);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "p@ss/");
  EXPECT_EQ(url->endpoints, (std::vector<RedisEndpoint>{{"host", 7000}}));
  EXPECT_EQ(url->database, 3);
  EXPECT_EQ(url->parameter("filter"), "a&b");
  EXPECT_EQ(url->parameter("as"), "redisson");
  EXPECT_EQ(url->parameter("codec"), "");
  EXPECT_EQ(url->text(), "rediss://host:7000/3") << "no user, no password";
}

TEST(RedisUrl, HasDefaults) {
  const auto url = RedisUrl::parse("redis://localhost");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->endpoints.front(), (RedisEndpoint{"localhost", 6379}));
  EXPECT_EQ(url->database, 0);
  EXPECT_FALSE(url->tls);
  EXPECT_TRUE(url->user.empty());
}

TEST(RedisUrl, NamesSeveralNodesOfAClusterAndTheMasterBehindSentinels) {
  const auto cluster = RedisUrl::parse("redis+cluster://a:1,[::1]:2,c?filter=f");
  ASSERT_TRUE(cluster) << cluster.error().message();
  EXPECT_EQ(cluster->endpoints, (std::vector<RedisEndpoint>{{"a", 1}, {"::1", 2}, {"c", 6379}}));
  EXPECT_EQ(cluster->endpoints[1].text(), "[::1]:2");
  const auto sentinel = RedisUrl::parse("redis+sentinel://:secret@a,b:9/mymaster/2");
  ASSERT_TRUE(sentinel) << sentinel.error().message();
  EXPECT_EQ(sentinel->endpoints, (std::vector<RedisEndpoint>{{"a", 26379}, {"b", 9}}));
  EXPECT_EQ(sentinel->master, "mymaster");
  EXPECT_EQ(sentinel->database, 2);
  EXPECT_EQ(sentinel->password, "secret");
}

TEST(RedisUrl, RefusesWhatIsWrongAndNeverTellsThePassword) {
  for (const auto* text :
       {"http://host", "redis://", "redis://:hidden@", "redis://u:hidden@h:0", "redis://h:70000",
        "redis://u:hidden@h:port", "redis://u:hidden@h/db", "redis://u:hidden@h/-1", "redis://a,b",
        "redis+cluster://a:1/2", "redis+sentinel://a", "redis://u:hidden%4@h", "redis://h?x=%zz",
        "redis://h?x=1&x=2", "redis://[::1", "redis://[::1]x", "redis+cluster://a,,b",
        "redis+what://h"}) {
    const auto url = RedisUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Errc::invalid_argument) << text;
    EXPECT_EQ(url.error().detail.find("hidden"), std::string::npos) << url.error().detail;
  }
}

TEST(RedisUrl, IsToldFromAPath) {
  for (const auto* url : {"redis://h", "rediss://h", "redis+cluster://h", "redis+what://h"}) {
    EXPECT_TRUE(is_redis_url(url)) << url;
  }
  for (const auto* path : {"redis", "redis:/h", "./redis.gl", "/a/redis.gl", "file://redis"}) {
    EXPECT_FALSE(is_redis_url(path)) << path;
  }
}

}  // namespace
}  // namespace guestlist
