#include "guestlist/lines/lines_source.hpp"

#include <gtest/gtest.h>

#include "change_feed_laws.hpp"
#include "key_file.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using namespace laws;

class LinesSourceTest : public testing::Test {
 protected:
  static LinesSourceOptions options(Duration settle = 50ms) {
    LinesSourceOptions brisk;
    brisk.poll = 2ms;
    brisk.settle = settle;
    brisk.snapshot_wait = 200ms;
    return brisk;
  }
  std::unique_ptr<LinesSource> open(const LinesSourceOptions& how) const {
    auto opened = LinesSource::open({file_.path()}, how);
    EXPECT_TRUE(opened) << opened.error().message();
    return *std::move(opened);
  }
  static KeySet snapshot_of(FollowedSource& source) {
    KeySet keys;
    const auto snapshot = source.snapshot();
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    if (snapshot) {
      EXPECT_TRUE(read_on(**snapshot, keys));
    }
    return keys;
  }

  const KeyFile file_{"a\nb\nc\n"};
};

TEST_F(LinesSourceTest, DoesNotBelieveThatKeysAreGoneWhileTheFileIsBeingWritten) {
  const auto source = open(options(1h));
  Following following(*source);
  following.catch_up();
  file_.overwrite("a\n");
  EXPECT_TRUE(eventually([&] { return following.next() && following.as_of; }));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(following.next());
  EXPECT_EQ(0u, following.removed);
  const auto snapshot = source->snapshot();
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(Errc::unavailable, snapshot.error().code);
  file_.append("b\nc\nd\n");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("d"));
  EXPECT_EQ((KeySet{"a", "b", "c", "d"}), snapshot_of(*source));
}

TEST_F(LinesSourceTest, BelievesThatKeysAreGoneWhenTheFileLiesStill) {
  const auto source = open(options());
  Following following(*source);
  following.catch_up();
  file_.replace("a\n");
  following.catch_up();
  EXPECT_EQ(2u, following.removed);
  EXPECT_EQ(KeySet{"a"}, snapshot_of(*source));
}

// A snapshot that lost a key has made a generation without it, so the key has to come again.
TEST_F(LinesSourceTest, GivesAKeyAgainThatASnapshotDidNotHave) {
  const auto source = open(options());
  Following following(*source);
  following.catch_up();
  file_.replace("a\nb\n");
  EXPECT_EQ((KeySet{"a", "b"}), snapshot_of(*source));
  file_.replace("a\nb\nc\n");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("c"));
}

TEST_F(LinesSourceTest, GivesAKeyAgainThatComesBackWhileASnapshotIsRead) {
  const auto source = open(options());
  Following following(*source);
  following.catch_up();
  file_.replace("a\nb\n");
  const auto snapshot = source->snapshot();
  ASSERT_TRUE(snapshot);
  file_.replace("a\nb\nc\n");
  following.catch_up();
  EXPECT_TRUE(following.keys.contains("c"));
}

TEST_F(LinesSourceTest, EndsASnapshotWithAnErrorWhereKeysWereLostWhileItWasRead) {
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += "key/" + std::to_string(i) + "\n";
  file_.replace(many);
  const auto source = open(options());
  const auto snapshot = source->snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  std::vector<std::string> batch;
  ASSERT_TRUE((*snapshot)->next(batch));
  file_.overwrite("a\n");
  KeySet keys;
  const auto read = read_on(**snapshot, keys);
  ASSERT_FALSE(read);
  EXPECT_EQ(Errc::unavailable, read.error().code);
}

TEST_F(LinesSourceTest, IsUnavailableWhileTheFileIsMissingAndGoesOn) {
  const auto source = open(options());
  Following following(*source);
  following.catch_up();
  file_.remove();
  const auto lost = following.next();
  ASSERT_FALSE(lost);
  EXPECT_EQ(Errc::unavailable, lost.error().code);
  EXPECT_EQ(Errc::unavailable, source->follow(following.position).error().code);
  EXPECT_EQ(Errc::unavailable, source->snapshot().error().code);
  EXPECT_FALSE(load(*source, "a", Deadline::after(50ms, SteadyClock())));
  file_.replace("a\nb\nc\nd\n");
  Following again(*source, following.position);
  again.catch_up();
  EXPECT_TRUE(again.keys.contains("d"));
}

TEST_F(LinesSourceTest, IsUnavailableWhereAllKeysAreGoneAtOnce) {
  const auto source = open(options());
  Following following(*source);
  following.catch_up();
  file_.overwrite("");
  Result<void> given;
  EXPECT_TRUE(eventually([&] {
    given = following.next();
    return !given;
  }));
  EXPECT_EQ(Errc::unavailable, given.error().code);
  EXPECT_FALSE(source->snapshot());
}

TEST_F(LinesSourceTest, SeesAChangeThatLeavesSizeAndTimesAsTheyWere) {
  const auto source = open(options());
  for (int i = 0; i < 50; ++i) {
    const std::string old_key = "x" + std::to_string(1000 + i);
    const std::string new_key = "y" + std::to_string(1000 + i);
    file_.overwrite(old_key + "\n");
    Following following(*source);
    EXPECT_TRUE(following.next(already_past()));
    file_.overwrite(new_key + "\n");
    following.catch_up();
    EXPECT_TRUE(eventually([&] { return following.next() && following.keys.contains(new_key); }))
        << i;
  }
}

TEST_F(LinesSourceTest, GoesOnAfterARestartWhereTheFileIsAsItWas) {
  SourcePosition reached;
  {
    const auto source = open(options());
    Following following(*source);
    EXPECT_TRUE(eventually([&] { return snapshot_of(*source).size() == 3; }));
    following.catch_up();
    reached = following.position;
  }
  const auto restarted = open(options());
  {
    Following again(*restarted, reached);
    again.catch_up();
    EXPECT_TRUE(again.keys.empty());
    file_.append("d\n");
    again.catch_up();
    EXPECT_EQ(KeySet{"d"}, again.keys);
  }
  const auto changed = open(options());
  const auto followed = changed->follow(reached);
  ASSERT_FALSE(followed);
  EXPECT_EQ(Errc::not_found, followed.error().code);
}

TEST_F(LinesSourceTest, GivesCanonicalKeysOfAColumn) {
  file_.replace("id,name\n007,x\n +8,y\nnone,z\n");
  LinesFile column{file_.path(), "id", {}, false, KeyType::integer};
  const auto source = LinesSource::open(column, options());
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ((KeySet{"7", "8"}), snapshot_of(**source));
  EXPECT_EQ("7", load(**source, "7").value());
}

TEST_F(LinesSourceTest, RefusesWhatCannotBeReadTwiceAndColumnsThatAreNotThere) {
  EXPECT_EQ(Errc::invalid_argument, LinesSource::open({"/dev/null"}).error().code);
  EXPECT_EQ(Errc::invalid_argument, LinesSource::open({file_.path(), "id"}).error().code);
  EXPECT_EQ(Errc::unavailable, LinesSource::open({file_.path() + "x"}).error().code);
}

}  // namespace
}  // namespace guestlist
