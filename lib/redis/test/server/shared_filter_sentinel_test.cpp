// A filter behind Sentinels, whose master dies with writes that no replica has.

#include "guestlist/servers/redis_sentinels.hpp"

#include <gtest/gtest.h>

#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisSentinels;
using servers::required;
using namespace std::chrono_literals;

TEST(SharedFilterSentinelTest, AFailoverThatLosesTheLastAddsDeniesNoKey) {
  auto sentinels = required(RedisSentinels::start());
  std::string url = "redis+sentinel://";
  for (const auto& address : sentinels.sentinel_addresses()) {
    url += (url.back() == '/' ? "" : ",") + address;
  }
  url += std::string("/") + RedisSentinels::master_name;
  const auto client = connect_to(url);
  const auto keys = numbered_keys("here", 300);
  const BuildChoice choice{.items = 2000, .shards = 2, .longest_write = 50ms};
  ASSERT_TRUE(build_filter(client, "products", keys, choice));
  PresentKeyWatch watch(url, "products", keys);
  ASSERT_TRUE(watch.recovers());
  const auto writer = required(SharedBloomFilter::make(client, "products"));
  ASSERT_EQ(check(*writer, "lost0"), Verdict::absent());

  sentinels.cut_replication();
  const auto lost = numbered_keys("lost", 300);
  ASSERT_TRUE(add(*writer, lost));
  ASSERT_EQ(count(check(*writer, lost), Verdict::maybe()), lost.size());
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> denied{0};
  std::thread asker([&] {
    while (!over) {
      denied += count(check(*writer, lost, soon(200ms)), Verdict::absent());
    }
  });
  required(sentinels.failover());
  // Adds go on at the new master, though it is not trusted.
  bool is_added = false;
  for (int i = 0; i < 200 && !is_added; ++i) {
    is_added = add(*writer, {"after"}).has_value();
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_TRUE(is_added);
  EXPECT_EQ(check(*writer, "lost0"), Verdict::unknown(Reason::incomplete));

  // The rows of the lost adds are in the source.
  auto all = keys;
  all.insert(all.end(), lost.begin(), lost.end());
  const auto report = build_filter(client, "products", all, choice);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(watch.recovers());
  EXPECT_EQ(count(check(*writer, lost), Verdict::maybe()), lost.size());
  EXPECT_EQ(check(*writer, "after"), Verdict::maybe()) << "it came out of the log";
  over = true;
  asker.join();
  watch.stop();
  EXPECT_EQ(denied, 0U);
  EXPECT_EQ(watch.absent(), 0U);
}

}  // namespace
}  // namespace guestlist
