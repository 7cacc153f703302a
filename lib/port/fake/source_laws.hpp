#pragma once

// What every Source promises, as a typed suite: the fake and every real form pass it. Keys are
// text.
//
//   struct TableForm {
//     Source& source();                     one without rows
//     void commit(const Rows& rows);        inserts
//     void remove(const std::string& key);  deletes
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Table, SourceLaws, TableForm);
//
// A form is made anew for each law. One behind a connection passes remote_source_laws.hpp as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "guestlist/port/source.hpp"
#include "replies.hpp"

namespace guestlist::laws {

using Rows = std::map<std::string, std::string>;
using Loaded = Result<std::optional<std::string>>;

inline Rows numbered_rows(int count) {
  Rows rows;
  for (int i = 0; i < count; ++i)
    rows.emplace("key/" + std::to_string(i), "value/" + std::to_string(i));
  return rows;
}

inline Replies<Loaded> start_load(Source& source, std::string key, Deadline deadline) {
  Replies<Loaded> replies;
  source.load(key, deadline, replies.completion());
  std::ranges::fill(key, '?');
  return replies;
}

/// That an answer came, and once, is part of every law.
inline Loaded loaded_by(const Replies<Loaded>& replies) {
  const auto loaded = replies.first();
  EXPECT_TRUE(loaded) << "a load was never answered";
  EXPECT_EQ(1u, replies.count());
  return loaded ? *loaded : Loaded(fail(Errc::unavailable, "never answered"));
}

inline Loaded load(Source& source, const std::string& key, Deadline deadline = in_time()) {
  return loaded_by(start_load(source, key, deadline));
}

/// Reads on to the end or to the failure. Keys are a set: one may come more than once.
inline Result<void> read_on(Snapshot& snapshot, std::set<std::string>& all) {
  std::vector<std::string> batch;
  while (true) {
    if (auto read = snapshot.next(batch); !read) return read;
    if (batch.empty()) return {};
    all.insert(batch.begin(), batch.end());
  }
}

inline std::set<std::string> keys_of(const Rows& rows) {
  std::set<std::string> keys;
  for (const auto& [key, value] : rows) keys.insert(key);
  return keys;
}

template <class Form>
class SourceLaws : public testing::Test {
 protected:
  std::set<std::string> read_snapshot() {
    std::set<std::string> keys;
    const auto snapshot = form_.source().snapshot();
    EXPECT_TRUE(snapshot) << snapshot.error().message();
    if (snapshot) {
      const auto read = read_on(**snapshot, keys);
      EXPECT_TRUE(read) << read.error().message();
    }
    return keys;
  }

  Form form_;
};
TYPED_TEST_SUITE_P(SourceLaws);

TYPED_TEST_P(SourceLaws, LoadsWhatIsCommittedAndNothingElse) {
  Source& source = this->form_.source();
  EXPECT_EQ(std::nullopt, load(source, "a").value());
  this->form_.commit({{"a", "1"}, {"b", ""}});
  EXPECT_EQ("1", load(source, "a").value());
  EXPECT_EQ("", load(source, "b").value());
  this->form_.remove("a");
  EXPECT_EQ(std::nullopt, load(source, "a").value());
  EXPECT_EQ("", load(source, "b").value());
}

TYPED_TEST_P(SourceLaws, KeepsTextExact) {
  const Rows rows = {{"'; DROP TABLE t; --", "1"},
                     {"\"quoted\"", "2"},
                     {"tab\tline\nback\\slash", "3"},
                     {"\\N", "4"},
                     {"\xC3\xA4\xE6\xBC\xA2", "5"},
                     {" 007 ", "6"},
                     {"A", "7"},
                     {"a", "8"},
                     {"%_*?{}$1", "9"}};
  this->form_.commit(rows);
  for (const auto& [key, value] : rows)
    EXPECT_EQ(value, load(this->form_.source(), key).value()) << key;
  EXPECT_EQ(keys_of(rows), this->read_snapshot());
}

TYPED_TEST_P(SourceLaws, GivesNoKeysWhereThereAreNone) {
  EXPECT_TRUE(this->read_snapshot().empty());
}

TYPED_TEST_P(SourceLaws, GivesEveryKeyInASnapshotAndStaysAtItsEnd) {
  const Rows rows = numbered_rows(10'000);
  this->form_.commit(rows);
  const auto snapshot = this->form_.source().snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  if (const auto count = (*snapshot)->count()) {
    EXPECT_EQ(10'000u, *count);
  }
  std::set<std::string> keys;
  ASSERT_TRUE(read_on(**snapshot, keys));
  EXPECT_EQ(keys_of(rows), keys);
  std::vector<std::string> beyond = {"stale"};
  EXPECT_TRUE((*snapshot)->next(beyond));
  EXPECT_TRUE(beyond.empty());
}

TYPED_TEST_P(SourceLaws, GivesEveryKeyThatWasThereWhenTheSnapshotWasOpened) {
  this->form_.commit({{"before", "1"}, {"removed since", "2"}});
  const auto snapshot = this->form_.source().snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  this->form_.commit({{"since", "3"}});
  this->form_.remove("removed since");
  std::set<std::string> keys;
  ASSERT_TRUE(read_on(**snapshot, keys));
  keys.erase("since");
  EXPECT_EQ((std::set<std::string>{"before", "removed since"}), keys);
  EXPECT_EQ((std::set<std::string>{"before", "since"}), this->read_snapshot());
}

TYPED_TEST_P(SourceLaws, ReadsTwoSnapshotsAndLoadsAtATime) {
  const Rows rows = numbered_rows(1000);
  this->form_.commit(rows);
  const auto one = this->form_.source().snapshot();
  const auto two = this->form_.source().snapshot();
  ASSERT_TRUE(one && two);
  std::vector<std::string> first_batch;
  ASSERT_TRUE((*one)->next(first_batch));
  std::set<std::string> keys_of_two;
  ASSERT_TRUE(read_on(**two, keys_of_two));
  EXPECT_EQ("value/7", load(this->form_.source(), "key/7").value());
  std::set<std::string> keys_of_one(first_batch.begin(), first_batch.end());
  ASSERT_TRUE(read_on(**one, keys_of_one));
  EXPECT_EQ(keys_of(rows), keys_of_one);
  EXPECT_EQ(keys_of(rows), keys_of_two);
}

// Nothing and a failure are different answers: the first says that the key does not exist.
TYPED_TEST_P(SourceLaws, AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast) {
  this->form_.commit({{"a", "1"}});
  if (const auto loaded = load(this->form_.source(), "a", already_past())) {
    EXPECT_EQ("1", *loaded);
  }
  EXPECT_EQ("1", load(this->form_.source(), "a").value());
}

TYPED_TEST_P(SourceLaws, MixesNoLoadsOfThreads) {
  this->form_.commit(numbered_rows(200));
  Source& source = this->form_.source();
  on_four_threads([&](int number) {
    for (int i = number; i < 200; i += 4) {
      const std::string text = std::to_string(i);
      EXPECT_EQ("value/" + text, load(source, "key/" + text).value());
      EXPECT_EQ(std::nullopt, load(source, "no key/" + text).value());
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(SourceLaws, LoadsWhatIsCommittedAndNothingElse, KeepsTextExact,
                            GivesNoKeysWhereThereAreNone, GivesEveryKeyInASnapshotAndStaysAtItsEnd,
                            GivesEveryKeyThatWasThereWhenTheSnapshotWasOpened,
                            ReadsTwoSnapshotsAndLoadsAtATime,
                            AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast,
                            MixesNoLoadsOfThreads);

}  // namespace guestlist::laws
