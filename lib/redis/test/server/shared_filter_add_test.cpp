// Adds from eight writers while the filter is rebuilt three times: each add that reported success
// is found by everybody afterwards. The rows of a database are played by a set that a key enters
// some time after its add, as a commit does.
//
// GUESTLIST_CHAOS_ADDS asks for more adds than the usual 200,000.

#include <gtest/gtest.h>

#include <deque>
#include <mutex>

#include "guestlist/servers/redis_server.hpp"
#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

constexpr int writers = 8;
constexpr int keys_per_add = 100;
constexpr std::size_t open_writes = 4;
constexpr Duration longest_write = 2s;

int wanted_adds() {
  const char* asked = std::getenv("GUESTLIST_CHAOS_ADDS");
  return asked == nullptr ? 200'000 : std::atoi(asked);
}

class Rows {
 public:
  void commit(const std::vector<std::string>& keys) {
    const std::lock_guard lock(mutex_);
    keys_.insert(keys_.end(), keys.begin(), keys.end());
  }
  std::vector<std::string> snapshot() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> keys_;
};

class SharedFilterAddTest : public testing::Test {
 protected:
  SharedFilterAddTest()
      : server_(required(RedisServer::start())),
        url_("redis://" + server_.address()),
        client_(connect_to(url_)) {}

  BuildChoice choice(std::uint32_t shards) const {
    return {.items = static_cast<std::uint64_t>(wanted_adds()) + 1000,
            .fpr = 0.001,
            .shards = shards,
            .lines_per_segment = 1000,
            .longest_write = longest_write,
            .lease = 30s};
  }

  /// Adds its share, and commits the rows of each add some adds later.
  void write(int writer) {
    const auto filter = required(SharedBloomFilter::make(connect_to(url_), "products"));
    std::deque<std::vector<std::string>> open;
    for (int first = 0; first < wanted_adds() / writers; first += keys_per_add) {
      open.push_back(numbered_keys(fmt::format("w{} ", writer), keys_per_add, first));
      while (!add(*filter, open.back())) {
        std::this_thread::sleep_for(10ms);
      }
      // Every second writer only writes, so it learns of a swap by its adds alone.
      if (writer % 2 == 0) {
        denied_ += count(check(*filter, open.back()), Verdict::absent());
      }
      if (open.size() > open_writes) {
        rows_.commit(open.front());
        open.pop_front();
      }
      ++added_;
      std::this_thread::sleep_for(3ms);
    }
    for (const auto& keys : open) {
      rows_.commit(keys);
    }
    ++finished_;
  }

  void rebuild() {
    auto builder = SharedFilterBuilder::begin(client_, "products", build_options(choice(4)));
    ASSERT_TRUE(builder) << builder.error().message();
    const auto rows = rows_.snapshot();
    std::this_thread::sleep_for(200ms);  // reading a table takes its time
    ASSERT_TRUE(builder->insert(views_of(rows)));
    const auto report = builder->publish();
    ASSERT_TRUE(report) << report.error().message();
  }

  RedisServer server_;
  const std::string url_;
  const std::shared_ptr<RedisClient> client_;
  Rows rows_;
  std::atomic<std::uint64_t> denied_{0};
  std::atomic<int> added_{0};
  std::atomic<int> finished_{0};
};

TEST_F(SharedFilterAddTest, EachAddIsFoundAfterThreeRebuilds) {
  ASSERT_TRUE(build_filter(client_, "products", {}, choice(4)));
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([this, writer] { write(writer); });
  }
  const int all = wanted_adds() / writers / keys_per_add * writers;
  for (const int part : {1, 2, 3}) {
    while (added_ < all * part / 4) {
      std::this_thread::sleep_for(1ms);
    }
    rebuild();
    EXPECT_LT(finished_, writers) << "the rebuild was meant to have adds beside it";
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(denied_, 0U);
  const auto fresh = required(SharedBloomFilter::make(connect_to(url_), "products"));
  for (int writer = 0; writer < writers; ++writer) {
    for (int first = 0; first < wanted_adds() / writers; first += 1000) {
      const auto keys = numbered_keys(fmt::format("w{} ", writer),
                                      std::min(1000, wanted_adds() / writers - first), first);
      ASSERT_EQ(count(check(*fresh, keys), Verdict::maybe()), keys.size())
          << writer << " " << first;
    }
  }
}

}  // namespace
}  // namespace guestlist
