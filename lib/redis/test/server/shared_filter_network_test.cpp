// What networks do, between a filter in Redis and those who ask it: no present key is denied, and
// every call answers by its deadline.

#include <gtest/gtest.h>

#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/tcp_gate.hpp"
#include "present_key_watch.hpp"

namespace guestlist {
namespace {

using servers::Faults;
using servers::RedisServer;
using servers::required;
using servers::TcpGate;
using namespace std::chrono_literals;

class SharedFilterNetworkTest : public testing::Test {
 protected:
  static constexpr Duration deadline = 150ms;
  static constexpr Duration tolerance = 100ms;

  void start(bool tls = false) {
    server_.emplace(required(RedisServer::start({.tls = tls})));
    gate_.emplace(required(TcpGate::open(server_->port())));
    url_ = tls ? fmt::format("rediss://127.0.0.1:{}?ca={}", gate_->port(),
                             server_->certificates().authority())
               : fmt::format("redis://127.0.0.1:{}", gate_->port());
    client_ = connect_to(url_);
    ASSERT_TRUE(build_filter(client_, "products", keys_,
                             {.items = 1000, .shards = 2, .longest_write = 0ms}));
    filter_ = required(SharedBloomFilter::make(client_, "products"));
    ASSERT_EQ(check(*filter_, "here1"), Verdict::maybe());
  }

  /// Asks and adds for a while, alone, so that time is the call's own.
  void ask_for(Duration span) {
    const SteadyClock clock;
    const auto end = clock.now() + span;
    for (int i = 0; clock.now() < end; ++i) {
      const auto begin = clock.now();
      if (i % 4 == 3) {
        (void)add(*filter_, {keys_[static_cast<std::size_t>(i) % keys_.size()]}, soon(deadline));
      } else {
        EXPECT_EQ(count(check(*filter_, keys_, soon(deadline)), Verdict::absent()), 0U);
      }
      const auto took = clock.now() - begin;
      late_ += took > deadline + tolerance ? 1 : 0;
      worst_ = std::max(worst_, std::chrono::duration_cast<std::chrono::milliseconds>(took));
    }
  }
  void ask_under(const Faults& faults) {
    gate_->inject(faults);
    ask_for(chaos_span(600ms));
    gate_->heal();
    EXPECT_TRUE(recovers());
    EXPECT_EQ(late_, 0) << "the slowest call took " << worst_.count() << " ms";
  }
  bool recovers() {
    for (int i = 0; i < 500; ++i) {
      if (check(*filter_, "here1", soon(deadline)) == Verdict::maybe()) {
        return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::optional<RedisServer> server_;
  std::optional<TcpGate> gate_;
  std::string url_;
  std::shared_ptr<RedisClient> client_;
  std::shared_ptr<SharedBloomFilter> filter_;
  const std::vector<std::string> keys_ = numbered_keys("here", 100);
  int late_ = 0;
  std::chrono::milliseconds worst_{0};
};

TEST_F(SharedFilterNetworkTest, NothingArrives) {
  start();
  ask_under({.hold_requests = true});
  ask_under({.hold_replies = true});
  ask_under({.hold_requests = true, .hold_replies = true});
}

TEST_F(SharedFilterNetworkTest, EverythingArrivesLateOrInPieces) {
  start();
  ask_under({.delay = 40ms});
  ask_under({.delay = 120ms});
  ask_under({.slice = 7});
}

TEST_F(SharedFilterNetworkTest, ConnectionsAreRefusedAndCut) {
  start();
  gate_->inject({.refuse = true});
  gate_->reset_connections();
  ask_under({.refuse = true});
  for (const std::uint64_t bytes : {1U, 100U, 1000U, 5000U, 20'000U}) {
    ask_under({.close_after_reply_bytes = bytes});
  }
}

TEST_F(SharedFilterNetworkTest, TheOtherSideIsGoneWithoutAWord) {
  start();
  for (int i = 0; i < 3; ++i) {
    gate_->lose_servers();
    ask_under({});
  }
}

// A plain connection has nothing against it but the checksum of TCP; TLS finds each flipped byte.
TEST_F(SharedFilterNetworkTest, FlippedBytesAreFoundByTls) {
  start(true);
  for (std::uint64_t byte = 100; byte < 8000; byte += 397) {
    gate_->inject({.corrupt_reply_byte = byte});
    gate_->reset_connections();
    ask_for(60ms);
    EXPECT_EQ(late_, 0) << worst_.count() << " ms";
  }
  gate_->heal();
  gate_->reset_connections();
  EXPECT_TRUE(recovers());
}

// What is wrong in the frame of a reply, not in the bits, is found without TLS too.
TEST_F(SharedFilterNetworkTest, RepliesThatAreNoRedisAnswerInTime) {
  start();
  for (std::uint64_t byte = 0; byte < 60; byte += 3) {
    gate_->inject({.corrupt_reply_byte = byte});
    gate_->reset_connections();
    ask_for(30ms);
    EXPECT_EQ(late_, 0) << worst_.count() << " ms";
  }
  gate_->heal();
  gate_->reset_connections();
  EXPECT_TRUE(recovers());
}

TEST_F(SharedFilterNetworkTest, ACallThatMayWaitLongerHoldsNobodyUp) {
  start();
  const auto fresh = required(SharedBloomFilter::make(client_, "products"));
  gate_->inject({.hold_replies = true});
  std::thread patient([&] { (void)check(*fresh, "here1", soon(3s)); });
  std::this_thread::sleep_for(20ms);
  const auto begin = SteadyClock().now();
  EXPECT_EQ(check(*fresh, "here1", soon(100ms)), Verdict::unknown(Reason::deadline));
  EXPECT_LT(SteadyClock().now() - begin, 100ms + tolerance);
  gate_->heal();
  patient.join();
}

}  // namespace
}  // namespace guestlist
