#include "guestlist/sync/followed_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <shared_mutex>

#include "fake_followed_source.hpp"
#include "fake_membership.hpp"
#include "membership_laws.hpp"
#include "temporary_folder.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using fake::FakeFollowedSource;
namespace files = std::filesystem;

class FollowedFilterTest : public testing::Test {
 protected:
  FollowOptions options() const {
    FollowOptions options;
    options.name = "products";
    options.origin = "a table";
    options.fpr = 1e-6;
    options.lease = 30s;
    options.measure_every = 20ms;
    options.retry_at_most = 20ms;
    return options;
  }
  FollowOptions saved_options() const {
    FollowOptions saved = options();
    saved.folder = folder_.path();
    return saved;
  }
  void start(FollowOptions options, std::vector<Membership*> published = {}) {
    auto started = FollowedFilter::start(std::move(options), source_, std::move(published));
    ASSERT_TRUE(started) << started.error().message();
    filter_ = *std::move(started);
  }
  Verdict check(const std::string& key) { return laws::check(*filter_, {key}).front(); }
  /// Until something holds; everything here happens in other threads.
  template <class Condition>
  static void wait_until(Condition holds, const std::string& what) {
    const TimePoint limit = SteadyClock().now() + 20s;
    while (!holds()) {
      ASSERT_LT(SteadyClock().now(), limit) << what;
      std::this_thread::sleep_for(1ms);
    }
  }
  void wait_until_ready() {
    wait_until([&] { return filter_->status().reason == Reason::none; }, "never ready");
  }
  void wait_until_found(const std::string& key) {
    wait_until([&] { return check(key) == Verdict::maybe(); }, key);
  }

  const TemporaryFolder folder_;
  std::shared_ptr<FakeFollowedSource> source_ = std::make_shared<FakeFollowedSource>();
  std::unique_ptr<FollowedFilter> filter_;
};

TEST_F(FollowedFilterTest, KnowsWhatWasThereAndWhatCame) {
  source_->commit("before", "1");
  start(options());
  wait_until_ready();
  EXPECT_EQ(Verdict::maybe(), check("before"));
  EXPECT_EQ(Verdict::absent(), check("later"));
  source_->commit("later", "1");
  wait_until_found("later");
  EXPECT_EQ(Verdict::absent(), check("never"));
}

TEST_F(FollowedFilterTest, SaysUnknownUntilTheSourceWasRead) {
  source_->following.fail_next(3);
  source_->commit("a", "1");
  start(options());
  EXPECT_EQ(Verdict::unknown(Reason::building), check("a"));
  wait_until_ready();
  EXPECT_EQ(Verdict::maybe(), check("a"));
}

TEST_F(FollowedFilterTest, SaysUnknownWhenItsLeaseHasRunOut) {
  FollowOptions brief = options();
  brief.lease = 100ms;
  start(brief);
  wait_until_ready();
  source_->hold_changes();
  source_->commit("unseen", "1");
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(Verdict::unknown(Reason::stale), check("unseen"));
  source_->release_changes();
  wait_until_found("unseen");
}

TEST_F(FollowedFilterTest, GoesOnFromItsPositionAfterALostConnection) {
  start(options());
  wait_until_ready();
  const std::uint64_t generation = filter_->status().generation;
  for (int i = 0; i < 10; ++i) {
    source_->cut();
    source_->commit("key/" + std::to_string(i), "1");
    wait_until_found("key/" + std::to_string(i));
  }
  wait_until_ready();
  EXPECT_EQ(generation, filter_->status().generation);
}

TEST_F(FollowedFilterTest, IsBuiltAnewWhereChangesAreLost) {
  start(options());
  wait_until_ready();
  source_->hold_changes();
  source_->commit("lost", "1");
  source_->lose_changes();
  // Not absent at any moment, whatever the builder and the follower do.
  const TimePoint until = SteadyClock().now() + 300ms;
  source_->release_changes();
  while (SteadyClock().now() < until) {
    const bool is_anew = filter_->status().generation > 1;
    const Verdict verdict = check("lost");
    if (is_anew) {
      EXPECT_FALSE(verdict.is_absent());
    }
  }
  wait_until_found("lost");
  EXPECT_GE(filter_->status().generation, 2u);
}

TEST_F(FollowedFilterTest, IsBuiltAnewBesideItselfWhenAsked) {
  source_->commit("stays", "1");
  source_->commit("goes", "1");
  start(options());
  wait_until_ready();
  source_->remove("goes");
  wait_until([&] { return filter_->status().removed == 1; }, "the removal did not come");
  EXPECT_EQ(Verdict::maybe(), check("goes"));
  filter_->request_rebuild();
  wait_until(
      [&] {
        EXPECT_EQ(Verdict::maybe(), check("stays"));
        return filter_->status().generation == 2;
      },
      "not rebuilt");
  wait_until([&] { return check("goes") == Verdict::absent(); }, "the key that went stayed");
}

TEST_F(FollowedFilterTest, GrowsWhenItIsFull) {
  start(options());
  wait_until_ready();
  const std::uint64_t capacity = filter_->status().capacity;
  for (std::uint64_t i = 0; i < 2 * capacity; ++i) source_->commit("key/" + std::to_string(i), "1");
  wait_until([&] { return filter_->status().capacity >= 2 * capacity; }, "did not grow");
  for (std::uint64_t i = 0; i < 2 * capacity; ++i)
    EXPECT_EQ(Verdict::maybe(), check("key/" + std::to_string(i)));
}

TEST_F(FollowedFilterTest, ComesBackFromItsFileWithoutReadingTheSource) {
  source_->commit("in the file", "1");
  start(saved_options());
  wait_until_ready();
  wait_until([&] { return files::exists(folder_ / "products.guestlist"); }, "not saved");
  source_->commit("in the journal", "1");
  wait_until_found("in the journal");
  filter_.reset();
  source_->commit("while away", "1");
  source_->rows.snapshots.fail_next(1000);
  start(saved_options());
  wait_until_ready();
  for (const char* key : {"in the file", "in the journal", "while away"})
    EXPECT_EQ(Verdict::maybe(), check(key)) << key;
  EXPECT_EQ(Verdict::absent(), check("never"));
}

TEST_F(FollowedFilterTest, ReadsTheSourceWhereItsFileIsTooOld) {
  start(saved_options());
  wait_until_ready();
  wait_until([&] { return files::exists(folder_ / "products.guestlist"); }, "not saved");
  filter_.reset();
  source_->commit("while away", "1");
  source_->lose_changes();
  start(saved_options());
  wait_until_found("while away");
}

// What was saved before the loss must not be continued by what came after it.
TEST_F(FollowedFilterTest, NeverJoinsAFileAndAJournalAcrossALoss) {
  start(saved_options());
  wait_until_ready();
  wait_until([&] { return files::exists(folder_ / "products.guestlist"); }, "not saved");
  // The table cannot be read, so no new file is written after the loss.
  source_->rows.snapshots.fail_next(1'000'000);
  source_->hold_changes();
  source_->commit("in between", "1");
  source_->lose_changes();
  source_->release_changes();
  wait_until([&] { return filter_->status().reason == Reason::incomplete; },
             "the loss was not seen");
  wait_until([&] { return filter_->status().is_following; }, "did not follow again");
  source_->commit("after", "1");
  const auto end = source_->end(Deadline::never()).value();
  wait_until([&] { return filter_->status().position == end; }, "did not come");
  filter_.reset();
  source_->rows.snapshots.fail_next(0);
  start(saved_options());
  wait_until_found("in between");
  EXPECT_EQ(Verdict::maybe(), check("after"));
}

TEST_F(FollowedFilterTest, AcknowledgesOnlyWhatWasPublishedEverywhere) {
  fake::FakeMembership elsewhere;
  start(options(), {&elsewhere});
  wait_until_ready();
  elsewhere.adding.fail_next(5);
  source_->commit("a", "1");
  const auto end = source_->end(Deadline::never()).value();
  wait_until([&] { return source_->acknowledged() >= end.offset; }, "never acknowledged");
  EXPECT_EQ(Verdict::maybe(), laws::check(elsewhere, {"a"}).front());
}

TEST_F(FollowedFilterTest, HasAKeyBeforeItsCommitIsVisible) {
  source_->commit_synchronously();
  start(options());
  wait_until_ready();
  for (int i = 0; i < 500; ++i) {
    const std::string key = "key/" + std::to_string(i);
    source_->commit(key, "1");
    ASSERT_EQ(Verdict::maybe(), check(key)) << key;
  }
}

// Writers commit, and look at once; meanwhile the connection breaks, changes are lost, the filter
// is rebuilt and restarted.
TEST_F(FollowedFilterTest, NeverCallsACommittedKeyAbsentWhateverHappens) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  source_->commit_synchronously();
  start(saved_options());
  wait_until_ready();
  std::atomic<bool> ending = false;
  std::atomic<int> committed = 0;
  std::atomic<int> wrong = 0;
  std::atomic<int> proven = 0;
  std::shared_mutex restarting;
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; !ending; ++i) {
        const std::string key = std::to_string(w) + "/" + std::to_string(i);
        source_->commit(key, "1");
        ++committed;
        const std::shared_lock lock(restarting);
        if (filter_ == nullptr) continue;
        wrong += check(key).is_absent() ? 1 : 0;
        const std::string old = std::to_string(w) + "/" + std::to_string(i / 2);
        wrong += check(old).is_absent() ? 1 : 0;
        proven += check("no " + key).is_absent() ? 1 : 0;
      }
    });
  }
  std::mt19937 random(seed);
  const TimePoint limit = SteadyClock().now() + 60s;
  for (int round = 0; round < 60 || committed < 500 || proven < 200; ++round) {
    if (SteadyClock().now() > limit) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    switch (random() % 4) {
      case 0:
        source_->cut();
        break;
      case 1:
        source_->lose_changes();
        break;
      case 2:
        filter_->request_rebuild();
        break;
      default: {
        const std::unique_lock lock(restarting);
        filter_.reset();
        start(saved_options());
      }
    }
  }
  ending = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(0, wrong);
  EXPECT_GE(committed, 500);
  EXPECT_GE(proven, 200);
}

class FollowedForm {
 public:
  FollowedForm() {
    for (int i = 0; i < 16'000; ++i) unrelated_->commit("unrelated/" + std::to_string(i), "");
    complete_ = make(unrelated_);
    while (complete_->status().reason != Reason::none) std::this_thread::sleep_for(1ms);
    building_source_->rows.snapshots.fail_next(1'000'000);
    building_ = make(building_source_);
  }
  Membership& complete() { return *complete_; }
  Membership& incomplete() { return *building_; }

 private:
  static std::unique_ptr<FollowedFilter> make(const std::shared_ptr<FakeFollowedSource>& source) {
    FollowOptions options;
    options.name = "laws";
    options.fpr = 0.001;
    options.lease = 60s;
    return FollowedFilter::start(options, source).value();
  }
  std::shared_ptr<FakeFollowedSource> unrelated_ = std::make_shared<FakeFollowedSource>();
  std::shared_ptr<FakeFollowedSource> building_source_ = std::make_shared<FakeFollowedSource>();
  std::unique_ptr<FollowedFilter> complete_;
  std::unique_ptr<FollowedFilter> building_;
};

}  // namespace

namespace laws {
INSTANTIATE_TYPED_TEST_SUITE_P(Followed, MembershipLaws, FollowedForm);
}  // namespace laws

}  // namespace guestlist
