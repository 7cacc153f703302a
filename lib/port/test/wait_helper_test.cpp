#include "guestlist/port/wait_helper.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "guestlist/port/completion.hpp"

namespace guestlist {
namespace {

/// Has nothing to do but to look whether it is over, each time it is woken.
class Looking final : public WaitHelper {
 public:
  void help(const std::function<bool()>& is_over) override {
    ++helped;
    while (!is_over()) {
      std::unique_lock lock(mutex_);
      is_looking_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return woken_ > 0; });
      --woken_;
    }
  }
  void wake() override {
    const std::lock_guard lock(mutex_);
    ++woken_;
    changed_.notify_all();
  }
  void wait_until_it_looks() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_looking_; });
  }

  int helped = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_looking_ = false;
  int woken_ = 0;
};

TEST(WaitHelper, IsWokenByAnAnswerFromAnotherThread) {
  for (int i = 0; i < 200; ++i) {
    const auto helper = std::make_shared<Looking>();
    std::thread other;
    const auto answer = wait_for<int>([&](Completion<int> done) {
      EXPECT_TRUE(WaitHelper::offer(helper));
      other = std::thread([helper, done] {
        helper->wait_until_it_looks();
        done(7);
      });
    });
    other.join();
    EXPECT_EQ(7, answer.value());
    EXPECT_EQ(1, helper->helped);
  }
}

TEST(WaitHelper, IsNotAskedWhereTheAnswerIsThereAtOnce) {
  const auto helper = std::make_shared<Looking>();
  const auto answer = wait_for<int>([&](const Completion<int>& done) {
    EXPECT_TRUE(WaitHelper::offer(helper));
    done(7);
  });
  EXPECT_EQ(7, answer.value());
  EXPECT_EQ(0, helper->helped);
}

TEST(WaitHelper, IsTakenByAThreadThatWaitsAndOnlyTheFirst) {
  const auto first = std::make_shared<Looking>();
  const auto second = std::make_shared<Looking>();
  EXPECT_FALSE(WaitHelper::offer(first)) << "nobody waits";
  const auto taken = WaitHelper::offered_during([&] {
    EXPECT_EQ(second, WaitHelper::offered_during([&] { WaitHelper::offer(second); }));
    EXPECT_TRUE(WaitHelper::offer(first));
    EXPECT_TRUE(WaitHelper::offer(first));
    EXPECT_FALSE(WaitHelper::offer(second));
  });
  EXPECT_EQ(first, taken);
}

}  // namespace
}  // namespace guestlist
