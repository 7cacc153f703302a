#include <gtest/gtest.h>
#include <unistd.h>

#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/redis_server.hpp"
#include "shared_filter_fixture.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

TEST(SharedFilterReaderTest, AProgramInAnotherLanguageReadsTheSame) {
  const std::string python = "/usr/bin/python3";
  if (::access(python.c_str(), X_OK) != 0) {
    GTEST_SKIP() << "there is no " << python;
  }
  auto server = required(RedisServer::start());
  const auto client = connect_to("redis://" + server.address());
  const auto loaded = numbered_keys("here", 30);
  ASSERT_TRUE(build_filter(client, "products", loaded,
                           {.items = 1000, .shards = 5, .lines_per_segment = 3}));
  const auto filter = required(SharedBloomFilter::make(client, "products"));
  const auto added = numbered_keys("added", 30);
  ASSERT_TRUE(add(*filter, added));
  auto keys = loaded;
  for (const auto& more : {added, numbered_keys("other", 60)}) {
    keys.insert(keys.end(), more.begin(), more.end());
  }
  std::vector<std::string> command = {python, GUESTLIST_TEST_DATA "/shared_filter.py",
                                      std::to_string(server.port()), "products"};
  command.insert(command.end(), keys.begin(), keys.end());
  const auto read = required(servers::run_program({.command = command}, 30s));
  std::string expected;
  for (const auto& verdict : check(*filter, keys)) {
    expected += std::string(name(verdict.answer)) + "\n";
  }
  EXPECT_EQ(read, expected);
  EXPECT_NE(expected.find("absent"), std::string::npos);
}

}  // namespace
}  // namespace guestlist
