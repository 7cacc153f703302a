#include "event_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "guestlist/port/completion.hpp"

namespace guestlist::redis {
namespace {

using namespace std::chrono_literals;

/// As RedisClient does: a task on the loop, which answers after a step more.
void answer(EventLoop& loop, Completion<std::thread::id> done) {
  const bool is_waited_for = loop.is_here() ? loop.is_helped() : WaitHelper::offer(loop.helper());
  loop.post(
      [&loop, is_waited_for, done = std::move(done)] {
        loop.post([&loop, is_waited_for, done] {
          if (is_waited_for) loop.rest();
          done(std::this_thread::get_id());
        });
      },
      is_waited_for && !loop.is_here());
}

std::thread::id who_answers(EventLoop& loop) {
  return wait_for<std::thread::id>([&](auto done) { answer(loop, std::move(done)); }).value();
}

TEST(EventLoop, IsRunByTheThreadThatWaits) {
  EventLoop loop;
  const auto me = std::this_thread::get_id();
  int asked = 0;
  while (asked < 100'000 && who_answers(loop) != me) ++asked;
  EXPECT_EQ(me, who_answers(loop));
}

TEST(EventLoop, GoesOnByItselfForWhoeverDoesNotWait) {
  EventLoop loop;
  for (int i = 0; i < 100; ++i) {
    who_answers(loop);
    std::atomic<bool> ran = false;
    loop.post([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  }
}

TEST(EventLoop, RunsItsTimersWhereNobodyCallsAnyMore) {
  EventLoop loop;
  for (int i = 0; i < 20; ++i) {
    std::shared_ptr<void> timer;
    std::atomic<bool> ran = false;
    loop.post([&] { timer = loop.after(1ms, [&] { ran = true; }); });
    who_answers(loop);
    while (!ran) std::this_thread::yield();
  }
}

TEST(EventLoop, IsRunByOneThreadAtATime) {
  EventLoop loop;
  std::uint64_t unguarded = 0;
  std::atomic<std::uint64_t> posted = 0;
  std::atomic<std::uint64_t> seen = 0;
  const auto count = [&] {
    ++unguarded;
    ++seen;
  };
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int i = 0; i < 2000; ++i) {
        ++posted;
        if (c == 0) {
          loop.post(count);
          continue;
        }
        wait_for<bool>([&](Completion<bool> done) {
          answer(loop, [&, done](const auto&) {
            count();
            done(true);
          });
        }).value();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  while (seen < posted) std::this_thread::yield();
  EXPECT_EQ(posted, unguarded);
}

TEST(EventLoop, EndsWhileItIsRunByAThreadThatWaits) {
  for (int i = 0; i < 200; ++i) {
    auto loop = std::make_unique<EventLoop>();
    who_answers(*loop);
    Completion<int> later;
    std::atomic<bool> asked = false;
    std::thread caller([&] {
      const auto answer = wait_for<int>([&](Completion<int> done) {
        later = std::move(done);
        WaitHelper::offer(loop->helper());
        asked = true;
      });
      EXPECT_EQ(7, answer.value());
    });
    while (!asked) std::this_thread::yield();
    loop.reset();
    later(7);
    caller.join();
  }
}

}  // namespace
}  // namespace guestlist::redis
