// Swaps, drops and builders that compete, while keys that are present are asked for.

#include <gtest/gtest.h>

#include "guestlist/servers/redis_server.hpp"
#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class SharedFilterSwapTest : public testing::Test {
 protected:
  SharedFilterSwapTest()
      : server_(required(RedisServer::start())),
        url_("redis://" + server_.address()),
        client_(connect_to(url_)),
        keys_(numbered_keys("here", 200)) {}

  RedisServer server_;
  const std::string url_;
  const std::shared_ptr<RedisClient> client_;
  const std::vector<std::string> keys_;
};

TEST_F(SharedFilterSwapTest, AThousandSwapsDenyNoKey) {
  const BuildChoice small{.items = 300, .shards = 2, .lines_per_segment = 4};
  ASSERT_TRUE(build_filter(client_, "products", keys_, small));
  PresentKeyWatch watch(url_, "products", keys_);
  const auto end = SteadyClock().now() + chaos_span(40s);
  int swaps = 0;
  while (swaps < 1000 && SteadyClock().now() < end) {
    const auto report = build_filter(client_, "products", keys_, small);
    ASSERT_TRUE(report) << report.error().message();
    ++swaps;
  }
  watch.look_again();
  watch.stop();
  EXPECT_EQ(watch.absent(), 0U);
  EXPECT_GT(watch.maybe(), 1000U);
  EXPECT_GE(swaps, 100) << "the machine is too slow to say anything";
}

TEST_F(SharedFilterSwapTest, AFilterThatIsDroppedAndMadeAnewDeniesNoKey) {
  ASSERT_TRUE(build_filter(client_, "products", keys_, {.longest_write = 0ms}));
  PresentKeyWatch watch(url_, "products", keys_);
  const BuildChoice choices[] = {
      {.items = 300, .shards = 1, .longest_write = 0ms},
      {.items = 50'000, .fpr = 0.001, .shards = 1, .longest_write = 0ms},
      {.items = 300, .shards = 7, .lines_per_segment = 2, .longest_write = 0ms},
      {.items = 5000, .fpr = 0.2, .shards = 3, .longest_write = 0ms},
  };
  const auto end = SteadyClock().now() + chaos_span(8s);
  for (std::size_t round = 0; SteadyClock().now() < end; ++round) {
    ASSERT_TRUE(drop_shared_filter(*client_, "products"));
    const auto report =
        build_filter(client_, "products", keys_, choices[round % std::size(choices)]);
    ASSERT_TRUE(report) << report.error().message();
    watch.look_again();
  }
  ASSERT_TRUE(watch.recovers());
  watch.stop();
  EXPECT_EQ(watch.absent(), 0U);
  EXPECT_GT(watch.unknown(), 0U) << "the drops were seen";
}

TEST_F(SharedFilterSwapTest, OfThreeInstancesThatWarmUpAtOnceOneBuildsAndNoneDeniesAKey) {
  for (int round = 0; round < 5; ++round) {
    server_.command({"FLUSHALL"});
    PresentKeyWatch watch(url_, "products", keys_);
    std::atomic<int> built{0};
    std::atomic<int> refused{0};
    std::vector<std::thread> instances;
    for (int i = 0; i < 3; ++i) {
      instances.emplace_back([&] {
        const auto client = connect_to(url_);
        const auto report =
            build_filter(client, "products", keys_, {.items = 300, .shards = 3, .lease = 5s});
        if (report) {
          ++built;
        } else if (report.error().code == Errc::already_exists ||
                   report.error().code == Errc::cancelled) {
          ++refused;
        } else {
          ADD_FAILURE() << report.error().message();
        }
      });
    }
    for (auto& instance : instances) {
      instance.join();
    }
    EXPECT_EQ(built + refused, 3);
    EXPECT_GE(built, 1);
    EXPECT_TRUE(watch.recovers());
    watch.stop();
    EXPECT_EQ(watch.absent(), 0U);
  }
}

// Another process may have read how keys fall to shards, and begin only after the filter was made
// anew with another secret.
TEST_F(SharedFilterSwapTest, AKeyIsFoundAfterTheFirstShardWasLostAndTheFilterMadeAnew) {
  ASSERT_TRUE(build_filter(client_, "products", keys_, {.items = 300, .shards = 6}));
  const auto slow = required(SharedBloomFilter::make(client_, "products"));
  ASSERT_EQ(count(check(*slow, keys_), Verdict::maybe()), keys_.size());
  server_.command({"DEL", "guestlist:{products/0}:state"});
  auto builder = required(SharedFilterBuilder::begin(
      client_, "products", build_options({.items = 300, .shards = 2, .longest_write = 0ms})));
  const auto writer = required(SharedBloomFilter::make(connect_to(url_), "products"));
  const auto added = numbered_keys("new", 200);
  ASSERT_TRUE(add(*writer, added));
  for (const auto& key : added) {
    EXPECT_FALSE(check(*slow, key).is_absent()) << key << ": the old shards must not answer";
  }
  ASSERT_TRUE(builder.publish());
  EXPECT_EQ(count(check(*slow, added), Verdict::maybe()), added.size());
}

}  // namespace
}  // namespace guestlist
