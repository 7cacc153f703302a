#pragma once

// What every FollowedSource and its ChangeFeed promise, as a typed suite: the fake and every real
// form pass it. KeySet are text. The form is that of SourceLaws, and more:
//
//   struct TableForm {
//     FollowedSource& source();               one without rows
//     void commit(const Rows& rows);          inserts
//     void remove(const std::string& key);    deletes
//     void change_key(const std::string& from, const std::string& to);
//     void lose_changes();                    what was kept for us is gone: a slot dropped, a log
//                                             table emptied, a file replaced
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Table, ChangeFeedLaws, TableForm);
//
// A form is made anew for each law. One behind a connection passes remote_change_feed_laws.hpp as
// well.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "guestlist/port/change_feed.hpp"
#include "source_laws.hpp"

namespace guestlist::laws {

using KeySet = std::set<std::string>;

inline Deadline in_a_moment() {
  return Deadline::after(std::chrono::milliseconds(100), SteadyClock());
}

/// A feed, and all that it gave. Whoever follows keeps the last position and the last moment.
class Following {
 public:
  explicit Following(FollowedSource& source, const std::optional<SourcePosition>& from = {})
      : source_(source) {
    auto feed = source.follow(from);
    EXPECT_TRUE(feed) << feed.error().message();
    if (feed) feed_ = *std::move(feed);
  }

  Result<void> next(Deadline deadline = in_a_moment()) {
    if (feed_ == nullptr) return fail(Errc::unavailable, "was never followed");
    auto given = feed_->next(changes_, deadline);
    if (!given) return given;
    largest_portion = std::max(largest_portion, changes_.keys.size());
    keys.insert(changes_.keys.begin(), changes_.keys.end());
    removed += changes_.removed;
    if (!changes_.position.origin.empty()) position = changes_.position;
    if (changes_.as_of) as_of = std::max(as_of.value_or(*changes_.as_of), *changes_.as_of);
    return given;
  }

  /// Until everything has come that is committed now.
  void catch_up() {
    const auto end = source_.end(in_time());
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_TRUE(eventually([&] {
      const auto given = next();
      EXPECT_TRUE(given) << given.error().message();
      return !given || position.covers(*end);
    })) << "the feed reached "
        << position.text() << " and not " << end->text();
  }
  ChangeFeed& feed() { return *feed_; }
  bool is_open() const { return feed_ != nullptr; }
  void close() { feed_.reset(); }

  KeySet keys;
  std::uint64_t removed = 0;
  std::size_t largest_portion = 0;
  SourcePosition position;
  std::optional<TimePoint> as_of;

 private:
  FollowedSource& source_;
  std::unique_ptr<ChangeFeed> feed_;
  Changes changes_;
};

inline bool all_in(const KeySet& keys, const KeySet& all) {
  return std::includes(all.begin(), all.end(), keys.begin(), keys.end());
}

template <class Form>
class ChangeFeedLaws : public testing::Test {
 protected:
  FollowedSource& source() { return form_.source(); }

  Form form_;
};
TYPED_TEST_SUITE_P(ChangeFeedLaws);

TYPED_TEST_P(ChangeFeedLaws, GivesEveryKeyThatIsCommittedWhileItIsFollowed) {
  this->form_.commit({{"before", "0"}});
  Following following(this->source());
  this->form_.commit({{"a", "1"}, {"b", "2"}});
  following.catch_up();
  EXPECT_TRUE(all_in({"a", "b"}, following.keys));
  this->form_.commit({{"c", "3"}});
  following.catch_up();
  EXPECT_TRUE(all_in({"c"}, following.keys));
}

TYPED_TEST_P(ChangeFeedLaws, KeepsTextExact) {
  const Rows rows = {
      {"'; DROP TABLE t; --", "1"},  {"\"quoted\"", "2"}, {"back\\slash", "3"}, {"\\N", "4"},
      {"\xC3\xA4\xE6\xBC\xA2", "5"}, {"A", "6"},          {"a", "7"},           {"%_*?{}$1", "8"}};
  Following following(this->source());
  this->form_.commit(rows);
  following.catch_up();
  EXPECT_TRUE(all_in(keys_of(rows), following.keys));
}

TYPED_TEST_P(ChangeFeedLaws, GivesTheKeyThatARowGotLater) {
  this->form_.commit({{"old", "1"}});
  Following following(this->source());
  this->form_.change_key("old", "new");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("new"));
  EXPECT_GT(following.removed, 0u);
}

TYPED_TEST_P(ChangeFeedLaws, CountsRowsThatAreGone) {
  this->form_.commit({{"a", "1"}, {"b", "2"}});
  Following following(this->source());
  this->form_.remove("a");
  following.catch_up();
  EXPECT_GT(following.removed, 0u);
}

TYPED_TEST_P(ChangeFeedLaws, GivesAKeyThatWasRemovedAndCreatedAgain) {
  this->form_.commit({{"again", "1"}});
  Following following(this->source());
  this->form_.remove("again");
  following.catch_up();
  this->form_.commit({{"again", "2"}});
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("again"));
}

// The promise that the port is there for: follow, snapshot, next until the end of that moment.
TYPED_TEST_P(ChangeFeedLaws, MissesNothingTogetherWithASnapshotThatIsOpenedLater) {
  std::atomic<bool> is_over = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    while (!is_over) {
      this->form_.commit({{"moving/" + std::to_string(written.load()), "1"}});
      ++written;
    }
  });
  const auto wrote = [&](int more) {
    const int until = written + more;
    EXPECT_TRUE(eventually([&] { return written >= until; }));
  };
  wrote(3);
  KeySet all;
  Following following(this->source());
  wrote(3);
  const auto snapshot = this->source().snapshot();
  EXPECT_TRUE(snapshot) << snapshot.error().message();
  wrote(3);
  if (snapshot) {
    EXPECT_TRUE(read_on(**snapshot, all));
  }
  const int committed = written;
  following.catch_up();
  all.insert(following.keys.begin(), following.keys.end());
  for (int i = 0; i < committed; ++i)
    EXPECT_TRUE(all.contains("moving/" + std::to_string(i))) << i << " of " << committed;
  is_over = true;
  writer.join();
}

// What the feed gave went to the filters of that time. A new one has it from the snapshot alone.
TYPED_TEST_P(ChangeFeedLaws, ASnapshotHoldsEveryKeyThatTheFeedGaveBefore) {
  Following following(this->source());
  for (int i = 0; i < 20 && following.is_open(); ++i) {
    const std::string key = "given/" + std::to_string(i);
    std::thread writer([&] { this->form_.commit({{key, "1"}}); });
    EXPECT_TRUE(eventually([&] { return !following.next() || following.keys.contains(key); }));
    KeySet keys;
    const auto snapshot = this->source().snapshot();
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    if (snapshot) {
      EXPECT_TRUE(read_on(**snapshot, keys));
    }
    EXPECT_TRUE(keys.contains(key)) << key;
    writer.join();
  }
}

TYPED_TEST_P(ChangeFeedLaws, GoesOnFromAPositionThatWasReached) {
  SourcePosition reached;
  {
    Following following(this->source());
    this->form_.commit({{"a", "1"}});
    following.catch_up();
    reached = following.position;
    this->form_.commit({{"came and was not reached", "2"}});
    following.catch_up();
  }
  this->form_.commit({{"while nobody followed", "3"}});
  const auto kept = SourcePosition::parse(reached.text());
  ASSERT_EQ(reached, kept);
  Following again(this->source(), kept);
  again.catch_up();
  EXPECT_TRUE(all_in({"came and was not reached", "while nobody followed"}, again.keys));
}

TYPED_TEST_P(ChangeFeedLaws, GoesOnFromAPositionThatWasAcknowledged) {
  Following following(this->source());
  this->form_.commit({{"a", "1"}});
  following.catch_up();
  ASSERT_TRUE(following.is_open());
  ASSERT_TRUE(following.feed().acknowledge(following.position));
  this->form_.commit({{"b", "2"}});
  following.catch_up();
  ASSERT_TRUE(following.feed().acknowledge(following.position));
  const SourcePosition reached = following.position;
  following.close();
  this->form_.commit({{"c", "3"}});
  Following again(this->source(), reached);
  again.catch_up();
  EXPECT_TRUE(all_in({"c"}, again.keys));
}

TYPED_TEST_P(ChangeFeedLaws, GivesManyKeysInBoundedPortions) {
  const Rows rows = numbered_rows(50'000);
  Following following(this->source());
  this->form_.commit(rows);
  following.catch_up();
  EXPECT_TRUE(all_in(keys_of(rows), following.keys));
  EXPECT_LE(following.largest_portion, 16'384u);
}

TYPED_TEST_P(ChangeFeedLaws, WaitsNoLongerThanItsDeadlineWhereNothingHappens) {
  Following following(this->source());
  following.catch_up();
  const SteadyClock clock;
  const TimePoint began = clock.now();
  ASSERT_TRUE(following.next(Deadline::after(std::chrono::milliseconds(50), clock)));
  ASSERT_TRUE(following.next(already_past()));
  EXPECT_LT(clock.now() - began, std::chrono::seconds(5));
  EXPECT_TRUE(following.keys.empty());
}

// It is what a verdict's lease hangs on.
TYPED_TEST_P(ChangeFeedLaws, SaysOnlyThatAllHasComeWhenItHas) {
  Following following(this->source());
  const SteadyClock clock;
  for (int i = 0; i < 20 && following.is_open(); ++i) {
    const std::string key = "key/" + std::to_string(i);
    this->form_.commit({{key, "1"}});
    const TimePoint committed = clock.now();
    do {
      const auto given = following.next();
      ASSERT_TRUE(given) << given.error().message();
      if (following.as_of) {
        EXPECT_LE(*following.as_of, clock.now());
        if (*following.as_of > committed) {
          EXPECT_TRUE(following.keys.contains(key)) << key;
        }
      }
    } while (!following.keys.contains(key));
  }
}

TYPED_TEST_P(ChangeFeedLaws, RefusesAPositionOfAnotherOrigin) {
  SourcePosition reached;
  {
    Following following(this->source());
    following.catch_up();
    reached = following.position;
  }
  reached.origin += "/another";
  const auto followed = this->source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
}

TYPED_TEST_P(ChangeFeedLaws, RefusesAPositionThatTheSourceHasNotReached) {
  SourcePosition reached;
  {
    Following following(this->source());
    following.catch_up();
    reached = following.position;
  }
  reached.offset += 1'000'000'000;
  const auto followed = this->source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
}

TYPED_TEST_P(ChangeFeedLaws, RefusesAPositionWhoseChangesAreGoneAndBeginsAnew) {
  SourcePosition reached;
  {
    Following following(this->source());
    following.catch_up();
    reached = following.position;
  }
  this->form_.commit({{"lost", "1"}});
  this->form_.lose_changes();
  const auto followed = this->source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
  Following anew(this->source());
  this->form_.commit({{"after", "2"}});
  anew.catch_up();
  EXPECT_TRUE(anew.keys.contains("after"));
}

// Another one may wait its turn or follow on its own; it must not take what is the first one's.
TYPED_TEST_P(ChangeFeedLaws, TakesNothingFromWhoeverFollowsAlready) {
  Following first(this->source());
  {
    const auto second = this->source().follow(std::nullopt);
    if (!second) {
      EXPECT_EQ(Errc::overloaded, second.error().code) << second.error().message();
    }
    this->form_.commit({{"a", "1"}});
    first.catch_up();
  }
  this->form_.commit({{"b", "2"}});
  first.catch_up();
  EXPECT_TRUE(all_in({"a", "b"}, first.keys));
}

TYPED_TEST_P(ChangeFeedLaws, ForgetsAndCanBeFollowedAnew) {
  SourcePosition reached;
  {
    Following following(this->source());
    following.catch_up();
    reached = following.position;
  }
  const auto forgotten = this->source().forget();
  ASSERT_TRUE(forgotten) << forgotten.error().message();
  this->form_.commit({{"unseen", "1"}});
  const auto followed = this->source().follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code) << followed.error().message();
  EXPECT_TRUE(this->source().forget());
  Following anew(this->source());
  this->form_.commit({{"seen", "2"}});
  anew.catch_up();
  EXPECT_TRUE(anew.keys.contains("seen"));
}

TYPED_TEST_P(ChangeFeedLaws, FindsNothingWrongWithASourceThatCanBeFollowed) {
  for (const Finding& finding : this->source().examine(in_time())) {
    EXPECT_NE(Severity::error, finding.severity) << finding.what;
    if (finding.severity != Severity::good) {
      EXPECT_FALSE(finding.fix.empty()) << finding.what;
    }
    EXPECT_EQ(std::string::npos, (finding.what + finding.fix).find('\n')) << finding.what;
  }
}

REGISTER_TYPED_TEST_SUITE_P(
    ChangeFeedLaws, GivesEveryKeyThatIsCommittedWhileItIsFollowed, KeepsTextExact,
    GivesTheKeyThatARowGotLater, CountsRowsThatAreGone, GivesAKeyThatWasRemovedAndCreatedAgain,
    MissesNothingTogetherWithASnapshotThatIsOpenedLater,
    ASnapshotHoldsEveryKeyThatTheFeedGaveBefore, GoesOnFromAPositionThatWasReached,
    GoesOnFromAPositionThatWasAcknowledged, GivesManyKeysInBoundedPortions,
    WaitsNoLongerThanItsDeadlineWhereNothingHappens, SaysOnlyThatAllHasComeWhenItHas,
    RefusesAPositionOfAnotherOrigin, RefusesAPositionThatTheSourceHasNotReached,
    RefusesAPositionWhoseChangesAreGoneAndBeginsAnew, TakesNothingFromWhoeverFollowsAlready,
    ForgetsAndCanBeFollowedAnew, FindsNothingWrongWithASourceThatCanBeFollowed);

}  // namespace guestlist::laws
