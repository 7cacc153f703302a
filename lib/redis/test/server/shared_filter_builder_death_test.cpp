// Builders that are killed, or stopped and continued, at any of their steps.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guestlist/servers/redis_server.hpp"
#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using namespace std::chrono_literals;

class SharedFilterBuilderDeathTest : public testing::Test {
 protected:
  static constexpr Duration lease = 400ms;

  SharedFilterBuilderDeathTest()
      : server_(required(RedisServer::start())),
        url_("redis://" + server_.address()),
        client_(connect_to(url_)),
        keys_(numbered_keys("here", 500)) {}

  static BuildChoice choice() {
    return {.items = 300'000,
            .shards = 2,
            .lines_per_segment = 400,
            .longest_write = 20ms,
            .lease = lease,
            .wait_for_builder = 5s};
  }

  /// Another process that builds the filter again and again.
  pid_t fork_builder() {
    const auto child = ::fork();
    if (child == 0) {
      const auto client = connect_to(url_);
      while (true) {
        (void)build_filter(client, "products", keys_, choice());
      }
    }
    return child;
  }
  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  RedisServer server_;
  const std::string url_;
  const std::shared_ptr<RedisClient> client_;
  const std::vector<std::string> keys_;
};

TEST_F(SharedFilterBuilderDeathTest, ABuilderThatIsKilledAtAnyMomentLosesNothing) {
  ASSERT_TRUE(build_filter(client_, "products", keys_, choice()));
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  std::vector<std::string> added;
  const auto over = SteadyClock().now() + chaos_span(15s);
  int deaths = 0;
  for (; SteadyClock().now() < over; ++deaths) {
    const auto child = fork_builder();
    // A build takes about 40 ms: each death finds it somewhere else.
    std::this_thread::sleep_for(10ms + std::chrono::microseconds(1700 * (deaths % 40)));
    const auto during = numbered_keys(fmt::format("during {} ", deaths), 5);
    ASSERT_TRUE(add(*writer, during));
    std::this_thread::sleep_for(1ms);
    end(child);
    added.insert(added.end(), during.begin(), during.end());
    ASSERT_EQ(count(check(*writer, added), Verdict::absent()), 0U) << deaths;
    ASSERT_EQ(count(check(*writer, keys_), Verdict::absent()), 0U) << deaths;
  }
  // The rows of what was added are committed by now, so they are in the source.
  auto all = keys_;
  all.insert(all.end(), added.begin(), added.end());
  const auto report = build_filter(client_, "products", all, choice());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(count(check(*writer, all), Verdict::maybe()), all.size());
  EXPECT_EQ(server_.command({"KEYS", "guestlist:*:state"}).elements.size(), 2U);
  const auto segments = server_.command({"KEYS", "guestlist:*:*:*"}).elements.size();
  EXPECT_LT(segments, 100U) << "dead builders' segments are cleared away";
}

TEST_F(SharedFilterBuilderDeathTest, ABuilderThatSleptChangesNothingWhenItWakes) {
  ASSERT_TRUE(build_filter(client_, "products", keys_, choice()));
  const auto writer = required(SharedBloomFilter::make(client_, "products"));
  const auto over = SteadyClock().now() + chaos_span(12s);
  for (int round = 0; SteadyClock().now() < over; ++round) {
    const auto sleeper = fork_builder();
    std::this_thread::sleep_for(10ms + std::chrono::microseconds(2300 * (round % 25)));
    ::kill(sleeper, SIGSTOP);
    // Every third time the filter is lost and made anew meanwhile.
    if (round % 3 == 0) {
      server_.command({"FLUSHALL"});
    }
    const auto report = build_filter(client_, "products", keys_, choice());
    ASSERT_TRUE(report) << report.error().message();
    const auto later = numbered_keys(fmt::format("later {} ", round), 20);
    ASSERT_TRUE(add(*writer, later));
    ::kill(sleeper, SIGCONT);
    const auto watched = SteadyClock().now() + 15ms;  // within the longest write
    while (SteadyClock().now() < watched) {
      ASSERT_EQ(count(check(*writer, later), Verdict::absent()), 0U) << round;
      ASSERT_EQ(count(check(*writer, keys_), Verdict::absent()), 0U) << round;
    }
    end(sleeper);
  }
}

// A reader that was stopped knows an old view when it goes on.
TEST_F(SharedFilterBuilderDeathTest, AReaderThatSleptDeniesNoKeyWhenItWakes) {
  ASSERT_TRUE(build_filter(client_, "products", keys_, choice()));
  const auto reader = ::fork();
  if (reader == 0) {
    const auto filter = required(SharedBloomFilter::make(connect_to(url_), "products"));
    while (true) {
      if (count(check(*filter, keys_, soon(200ms)), Verdict::absent()) > 0) {
        ::_exit(1);
      }
    }
  }
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(30ms);
    ::kill(reader, SIGSTOP);
    if (round % 2 == 0) {
      server_.command({"FLUSHALL"});
    }
    ASSERT_TRUE(build_filter(client_, "products", keys_, choice()));
    ::kill(reader, SIGCONT);
  }
  std::this_thread::sleep_for(50ms);
  int status = 0;
  EXPECT_EQ(::waitpid(reader, &status, WNOHANG), 0) << "it denied a key, or crashed";
  end(reader);
}

}  // namespace
}  // namespace guestlist
