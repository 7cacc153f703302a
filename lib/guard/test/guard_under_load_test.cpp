// Many threads read, write and rebuild at once: whatever was written is found by every read that
// begins after the write returned, and nothing that exists is ever rejected.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "fake_source.hpp"
#include "guestlist/guard/guard.hpp"
#include "guestlist/guard/local_membership.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "guestlist/guard/warm_up.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

TEST(GuardUnderLoad, FindsEveryKeyWhoseWriteHasReturnedWhileTheFilterIsRebuilt) {
  const SteadyClock clock;
  fake::FakeSource source;
  for (int i = 0; i < 1000; ++i) source.commit("old-" + std::to_string(i), "v");
  LocalMembership membership;
  ASSERT_TRUE(warm_up(membership, source));
  LruValueCache cache(64 << 10, clock);
  GuardOptions options;
  options.budget_per_second = 0;
  options.null_cache_bytes = 64 << 10;
  Guard guard(options, membership, cache, source, clock);

  constexpr int writers = 3;
  constexpr int keys_per_writer = 700;
  std::array<std::atomic<int>, writers> written{};
  std::atomic<bool> stop = false;
  std::atomic<int> denied = 0;
  std::atomic<int> reads = 0;
  const auto deadline = [&] { return Deadline::after(30s, clock); };
  const auto key_of = [](int writer, int i) {
    return "new-" + std::to_string(writer) + "-" + std::to_string(i);
  };
  std::vector<std::jthread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      std::mt19937 random(static_cast<unsigned>(r));
      while (!stop) {
        const int writer = static_cast<int>(random() % writers);
        const int done = written[static_cast<std::size_t>(writer)].load(std::memory_order_acquire);
        // Also keys that are about to be written: their nulls must not survive the write.
        EXPECT_TRUE(guard.get(key_of(writer, done), deadline()));
        if (done == 0) continue;
        const auto lookup = guard.get(
            key_of(writer, static_cast<int>(random() % static_cast<unsigned>(done))), deadline());
        denied += !lookup || !lookup->found();
        ++reads;
      }
    });
  }
  std::jthread builder([&] {
    while (!stop) {
      const auto rebuilt = warm_up(membership, source);
      EXPECT_TRUE(rebuilt) << rebuilt.error().message();
    }
  });
  {
    std::vector<std::jthread> threads;
    for (int w = 0; w < writers; ++w) {
      threads.emplace_back([&, w] {
        for (int i = 0; i < keys_per_writer; ++i) {
          const std::string key = key_of(w, i);
          const auto done = guard.write(
              key,
              [&] {
                source.commit(key, "v");
                return Result<void>();
              },
              deadline());
          EXPECT_TRUE(done);
          const auto lookup = guard.get(key, deadline());
          denied += !lookup || !lookup->found();
          written[static_cast<std::size_t>(w)].store(i + 1, std::memory_order_release);
        }
      });
    }
  }
  stop = true;
  readers.clear();
  builder.join();
  EXPECT_EQ(0, denied);
  EXPECT_EQ(0u, guard.statistics()[GuardEvent::false_negative]);
  EXPECT_GT(membership.status().generation, 1u);
}

TEST(GuardUnderLoad, EndsAllReadsBeforeItIsGone) {
  const SteadyClock clock;
  fake::FakeSource source;
  LocalMembership membership;
  LruValueCache cache(1 << 20, clock);
  std::atomic<int> answered = 0;
  std::jthread late;
  {
    Guard guard({}, membership, cache, source, clock);
    source.loading.hold();
    for (int i = 0; i < 10; ++i) {
      guard.get("a", Deadline::after(10s, clock), [&](const Result<Lookup>&) { ++answered; });
    }
    late = std::jthread([&] {
      std::this_thread::sleep_for(50ms);
      source.loading.release();
    });
  }
  EXPECT_EQ(10, answered);
}

}  // namespace
}  // namespace guestlist
