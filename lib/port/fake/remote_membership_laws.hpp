#pragma once

// What a Membership behind a connection promises besides, when that connection is slow or lost. Its
// form is that of MembershipLaws with the gate that replies.hpp describes.

#include "membership_laws.hpp"

namespace guestlist::laws {

template <class Form>
class RemoteMembershipLaws : public MembershipLaws<Form> {};
TYPED_TEST_SUITE_P(RemoteMembershipLaws);

TYPED_TEST_P(RemoteMembershipLaws, TakesNoLateReplyForThatOfAnotherCheck) {
  Membership& membership = this->form_.complete();
  ASSERT_TRUE(add(membership, {"added"}));
  const Keys others = numbered_keys("other/", 20);
  const auto late = answer_late(
      this->form_, [&](Deadline deadline) { return start_check(membership, others, deadline); });
  const auto waiting = start_check(membership, {"added"}, in_time());
  this->form_.heal();
  EXPECT_EQ(0, count_absent(verdicts_of(waiting, {"added"})));
  verdicts_of(late, others);
  EXPECT_TRUE(eventually([&] { return count_maybe(check(membership, {"added"})) == 1; }));
  EXPECT_TRUE(eventually([&] { return count_absent(check(membership, others)) > 15; }));
  EXPECT_EQ(1u, late.count());
}

TYPED_TEST_P(RemoteMembershipLaws, MayAddAgainWhatWasAnsweredLate) {
  Membership& membership = this->form_.complete();
  const auto adding = answer_late(
      this->form_, [&](Deadline deadline) { return start_add(membership, {"added"}, deadline); });
  this->form_.heal();
  if (outcome_of(adding)) {
    EXPECT_EQ(0, count_absent(check(membership, {"added"})));
  }
  EXPECT_TRUE(eventually([&] { return add(membership, {"added"}).has_value(); }));
  EXPECT_TRUE(eventually([&] { return count_maybe(check(membership, {"added"})) == 1; }));
}

TYPED_TEST_P(RemoteMembershipLaws, MayAddAgainWhatLostItsConnectionAfterTheWrite) {
  Membership& membership = this->form_.complete();
  const auto adding = lose_reply(
      this->form_, [&](Deadline deadline) { return start_add(membership, {"added"}, deadline); });
  if (outcome_of(adding)) {
    EXPECT_EQ(0, count_absent(check(membership, {"added"})));
  }
  EXPECT_TRUE(eventually([&] { return add(membership, {"added"}).has_value(); }));
  EXPECT_TRUE(eventually([&] {
    const auto verdicts = check(membership, {"added"});
    EXPECT_EQ(0, count_absent(verdicts));
    return count_maybe(verdicts) == 1;
  }));
}

TYPED_TEST_P(RemoteMembershipLaws, CallsNoKeyAbsentWhenTheConnectionIsLostDuringACheck) {
  Membership& membership = this->form_.complete();
  const Keys added = numbered_keys("added/", 300);
  ASSERT_TRUE(add(membership, added));
  const auto checking = lose_reply(
      this->form_, [&](Deadline deadline) { return start_check(membership, added, deadline); });
  EXPECT_EQ(0, count_absent(verdicts_of(checking, added)));
  EXPECT_TRUE(eventually([&] {
    const auto verdicts = check(membership, added);
    EXPECT_EQ(0, count_absent(verdicts));
    return count_maybe(verdicts) == 300;
  }));
}

REGISTER_TYPED_TEST_SUITE_P(RemoteMembershipLaws, TakesNoLateReplyForThatOfAnotherCheck,
                            MayAddAgainWhatWasAnsweredLate,
                            MayAddAgainWhatLostItsConnectionAfterTheWrite,
                            CallsNoKeyAbsentWhenTheConnectionIsLostDuringACheck);

}  // namespace guestlist::laws
