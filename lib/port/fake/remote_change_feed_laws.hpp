#pragma once

// What a FollowedSource behind a connection promises besides, when that connection is slow or lost.
// Its form is that of ChangeFeedLaws with `cut` and `heal` of the gate that replies.hpp describes.

#include "change_feed_laws.hpp"

namespace guestlist::laws {

/// As a follower does it: again from the position reached, until that works.
template <class Form>
std::unique_ptr<Following> follow_again(Form& form, const SourcePosition& from) {
  std::unique_ptr<Following> again;
  EXPECT_TRUE(eventually([&] {
    auto feed = form.source().follow(from);
    if (!feed) {
      // Whoever says so makes the follower begin anew, for a mere loss of the connection.
      EXPECT_NE(Errc::not_found, feed.error().code) << feed.error().message();
      return false;
    }
    feed->reset();
    again = std::make_unique<Following>(form.source(), from);
    return again->is_open();
  }));
  return again;
}

template <class Form>
class RemoteChangeFeedLaws : public ChangeFeedLaws<Form> {};
TYPED_TEST_SUITE_P(RemoteChangeFeedLaws);

TYPED_TEST_P(RemoteChangeFeedLaws, SaysThatItIsLostAndGoesOnWhereItWas) {
  auto following = std::make_unique<Following>(this->source());
  this->form_.commit({{"a", "1"}});
  following->catch_up();
  const SourcePosition reached = following->position;
  this->form_.cut();
  this->form_.commit({{"b", "2"}});
  Result<void> given;
  EXPECT_TRUE(eventually([&] {
    given = following->next();
    return !given;
  }));
  EXPECT_EQ(Errc::unavailable, given.error().code) << given.error().message();
  this->form_.heal();
  following->close();
  const auto again = follow_again(this->form_, reached);
  ASSERT_TRUE(again);
  this->form_.commit({{"c", "3"}});
  again->catch_up();
  EXPECT_TRUE(all_in({"b", "c"}, again->keys));
}

TYPED_TEST_P(RemoteChangeFeedLaws, MissesNothingHoweverOftenItIsLost) {
  SourcePosition reached;
  KeySet all;
  KeySet committed;
  {
    Following following(this->source());
    following.catch_up();
    reached = following.position;
  }
  for (int loss = 0; loss < 5; ++loss) {
    const auto following = follow_again(this->form_, reached);
    ASSERT_TRUE(following);
    for (int i = 0; i < 20; ++i) {
      const std::string key = std::to_string(loss) + "/" + std::to_string(i);
      this->form_.commit({{key, "1"}});
      committed.insert(key);
      if (i == 10) this->form_.cut();
      // Nobody acknowledges what a lost feed gave last; it has its position all the same.
      if (!following->next(Deadline::after(std::chrono::milliseconds(5), SteadyClock()))) break;
      if (following->position.origin == reached.origin) {
        EXPECT_TRUE(following->position.covers(reached));
      }
    }
    this->form_.heal();
    if (!following->position.origin.empty()) reached = following->position;
    all.insert(following->keys.begin(), following->keys.end());
    following->close();
  }
  const auto last = follow_again(this->form_, reached);
  ASSERT_TRUE(last);
  last->catch_up();
  all.insert(last->keys.begin(), last->keys.end());
  EXPECT_TRUE(all_in(committed, all));
}

REGISTER_TYPED_TEST_SUITE_P(RemoteChangeFeedLaws, SaysThatItIsLostAndGoesOnWhereItWas,
                            MissesNothingHoweverOftenItIsLost);

}  // namespace guestlist::laws
