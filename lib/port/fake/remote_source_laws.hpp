#pragma once

// What a Source behind a connection promises besides, when that connection is slow or lost. Its
// form is that of SourceLaws with the gate that replies.hpp describes.

#include "source_laws.hpp"

namespace guestlist::laws {

template <class Form>
class RemoteSourceLaws : public SourceLaws<Form> {};
TYPED_TEST_SUITE_P(RemoteSourceLaws);

TYPED_TEST_P(RemoteSourceLaws, TakesNoLateReplyForThatOfAnotherKey) {
  Source& source = this->form_.source();
  this->form_.commit({{"a", "1"}});
  const auto late = answer_late(this->form_, [&](Deadline deadline) {
    return start_load(source, "never committed", deadline);
  });
  const auto waiting = start_load(source, "a", in_time());
  this->form_.heal();
  if (const auto loaded = loaded_by(waiting)) {
    EXPECT_EQ("1", *loaded);
  }
  if (const auto loaded = loaded_by(late)) {
    EXPECT_EQ(std::nullopt, *loaded);
  }
  EXPECT_TRUE(eventually([&] { return load(source, "a").has_value(); }));
  EXPECT_EQ("1", load(source, "a").value());
  EXPECT_EQ(1u, late.count());
}

TYPED_TEST_P(RemoteSourceLaws, SaysNotThatAKeyIsMissingWhenTheConnectionIsLost) {
  Source& source = this->form_.source();
  this->form_.commit({{"a", "1"}});
  const auto loading =
      lose_reply(this->form_, [&](Deadline deadline) { return start_load(source, "a", deadline); });
  if (const auto loaded = loaded_by(loading)) {
    EXPECT_EQ("1", *loaded);
  }
  EXPECT_TRUE(eventually([&] {
    const auto loaded = load(source, "a");
    if (loaded) {
      EXPECT_EQ("1", *loaded);
    }
    return loaded.has_value();
  }));
}

// An end that comes too early would be taken for a complete list.
TYPED_TEST_P(RemoteSourceLaws, EndsNoSnapshotEarlyWhenTheConnectionIsLost) {
  const Rows rows = numbered_rows(50'000);
  this->form_.commit(rows);
  const auto snapshot = this->form_.source().snapshot();
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  std::vector<std::string> batch;
  ASSERT_TRUE((*snapshot)->next(batch));
  std::set<std::string> keys(batch.begin(), batch.end());
  this->form_.cut();
  if (read_on(**snapshot, keys)) {
    EXPECT_EQ(keys_of(rows), keys);
  }
  EXPECT_TRUE(eventually([&] { return this->form_.source().snapshot().has_value(); }));
  EXPECT_EQ(keys_of(rows), this->read_snapshot());
}

REGISTER_TYPED_TEST_SUITE_P(RemoteSourceLaws, TakesNoLateReplyForThatOfAnotherKey,
                            SaysNotThatAKeyIsMissingWhenTheConnectionIsLost,
                            EndsNoSnapshotEarlyWhenTheConnectionIsLost);

}  // namespace guestlist::laws
