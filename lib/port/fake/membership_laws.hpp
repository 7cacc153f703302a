#pragma once

// What every Membership promises, as a typed suite: the fakes and every real form pass it.
//
//   struct SharedFilterForm {
//     Membership& complete();    a complete generation without keys, for 20,000 keys at 1 % or less
//     Membership& incomplete();  one that takes adds while its first generation is being built
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Shared, MembershipLaws, SharedFilterForm);
//
// A form is made anew for each law. One behind a connection passes remote_membership_laws.hpp as
// well. The laws hand over keys that are overwritten as soon as the call has returned.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "guestlist/port/membership.hpp"
#include "replies.hpp"

namespace guestlist::laws {

using Keys = std::vector<std::string>;
using VerdictReplies = Replies<std::vector<Verdict>>;

inline Keys numbered_keys(const std::string& prefix, int count) {
  Keys keys;
  for (int i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
  return keys;
}

template <class Call>
void with_passing_views(Keys keys, Call call) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  call(std::span<const std::string_view>(views));
  for (std::string& key : keys) std::ranges::fill(key, '?');
}

inline VerdictReplies start_check(Membership& membership, const Keys& keys, Deadline deadline) {
  VerdictReplies replies;
  with_passing_views(keys, [&](std::span<const std::string_view> views) {
    membership.check(views, deadline,
                     [completion = replies.completion()](std::span<const Verdict> verdicts) {
                       completion({verdicts.begin(), verdicts.end()});
                     });
  });
  return replies;
}

inline Replies<Result<void>> start_add(Membership& membership, const Keys& keys,
                                       Deadline deadline) {
  Replies<Result<void>> replies;
  with_passing_views(keys, [&](std::span<const std::string_view> views) {
    membership.add(views, deadline, replies.completion());
  });
  return replies;
}

/// One verdict a key; that they came, and once, is part of every law.
inline std::vector<Verdict> verdicts_of(const VerdictReplies& replies, const Keys& keys) {
  const auto verdicts = replies.first();
  EXPECT_TRUE(verdicts) << "a check was never answered";
  EXPECT_EQ(1u, replies.count());
  if (!verdicts) return std::vector<Verdict>(keys.size());
  EXPECT_EQ(keys.size(), verdicts->size());
  return *verdicts;
}

inline std::vector<Verdict> check(Membership& membership, const Keys& keys,
                                  Deadline deadline = in_time()) {
  return verdicts_of(start_check(membership, keys, deadline), keys);
}

inline Result<void> outcome_of(const Replies<Result<void>>& replies) {
  const auto added = replies.first();
  EXPECT_TRUE(added) << "an add was never answered";
  EXPECT_EQ(1u, replies.count());
  return added ? *added : Result<void>(fail(Errc::unavailable, "never answered"));
}

inline Result<void> add(Membership& membership, const Keys& keys, Deadline deadline = in_time()) {
  return outcome_of(start_add(membership, keys, deadline));
}

inline auto count_absent(const std::vector<Verdict>& verdicts) {
  return std::ranges::count_if(verdicts, &Verdict::is_absent);
}

inline auto count_maybe(const std::vector<Verdict>& verdicts) {
  return std::ranges::count(verdicts, Verdict::maybe());
}

template <class Form>
class MembershipLaws : public testing::Test {
 protected:
  Form form_;
};
TYPED_TEST_SUITE_P(MembershipLaws);

TYPED_TEST_P(MembershipLaws, CallsNoAddedKeyAbsentAndProvesTheAbsenceOfMostOthers) {
  Membership& membership = this->form_.complete();
  const Keys added = numbered_keys("added/", 1000);
  const Keys others = numbered_keys("other/", 1000);
  ASSERT_TRUE(add(membership, added));
  EXPECT_EQ(1000, count_maybe(check(membership, added)));
  EXPECT_GT(count_absent(check(membership, others)), 950);
}

TYPED_TEST_P(MembershipLaws, AnswersInTheOrderAsked) {
  Membership& membership = this->form_.complete();
  const Keys added = numbered_keys("added/", 300);
  ASSERT_TRUE(add(membership, added));
  Keys alternating;
  for (const std::string& key : added) {
    alternating.push_back(key);
    alternating.push_back("not " + key);
  }
  const auto verdicts = check(membership, alternating);
  ASSERT_EQ(600u, verdicts.size());
  int absent = 0;
  for (std::size_t i = 0; i < verdicts.size(); i += 2) {
    EXPECT_EQ(Verdict::maybe(), verdicts[i]) << alternating[i];
    absent += verdicts[i + 1].is_absent();
  }
  EXPECT_GT(absent, 270);
}

TYPED_TEST_P(MembershipLaws, TakesNoKeysAndOneKey) {
  Membership& membership = this->form_.complete();
  EXPECT_TRUE(add(membership, {}));
  EXPECT_TRUE(check(membership, {}).empty());
  EXPECT_TRUE(add(membership, {"one"}));
  EXPECT_EQ(1, count_maybe(check(membership, {"one"})));
}

TYPED_TEST_P(MembershipLaws, TakesAnyBytesAsAKey) {
  Membership& membership = this->form_.complete();
  const Keys keys = {"",
                     std::string(1, '\0'),
                     std::string("a\0b", 3),
                     "\r\n",
                     "{tag}",
                     "%d%s*?",
                     std::string(20'000, 'k'),
                     "\xFF\xFE"};
  ASSERT_TRUE(add(membership, keys));
  EXPECT_EQ(static_cast<std::ptrdiff_t>(keys.size()), count_maybe(check(membership, keys)));
}

TYPED_TEST_P(MembershipLaws, AddingAgainChangesNothing) {
  Membership& membership = this->form_.complete();
  const Keys keys = numbered_keys("key/", 100);
  const Keys others = numbered_keys("other/", 1000);
  ASSERT_TRUE(add(membership, keys));
  const auto before = check(membership, others);
  ASSERT_TRUE(add(membership, keys));
  EXPECT_EQ(before, check(membership, others));
  EXPECT_EQ(100, count_maybe(check(membership, keys)));
}

TYPED_TEST_P(MembershipLaws, ProvesNothingWhileAGenerationIsIncomplete) {
  Membership& membership = this->form_.incomplete();
  ASSERT_TRUE(add(membership, {"added"}));
  for (const Verdict verdict : check(membership, {"added", "never added"})) {
    EXPECT_EQ(Answer::unknown, verdict.answer);
    EXPECT_NE(Reason::none, verdict.reason);
  }
}

TYPED_TEST_P(MembershipLaws, AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast) {
  Membership& membership = this->form_.complete();
  ASSERT_TRUE(add(membership, {"added"}));
  EXPECT_EQ(0, count_absent(check(membership, {"added"}, already_past())));
  if (add(membership, {"late"}, already_past())) {
    EXPECT_EQ(1, count_maybe(check(membership, {"late"})));
  }
  EXPECT_TRUE(add(membership, {"late"}));
  EXPECT_EQ(2, count_maybe(check(membership, {"added", "late"})));
}

TYPED_TEST_P(MembershipLaws, FindsWhatTheSameThreadAddedBesideOthersThatAdd) {
  Membership& membership = this->form_.complete();
  on_four_threads([&](int number) {
    for (int i = 0; i < 50; ++i) {
      const Keys key = {std::to_string(number) + "/" + std::to_string(i)};
      const auto write = membership.begin_write();
      EXPECT_TRUE(add(membership, key));
      EXPECT_EQ(1, count_maybe(check(membership, key))) << key.front();
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(MembershipLaws, CallsNoAddedKeyAbsentAndProvesTheAbsenceOfMostOthers,
                            AnswersInTheOrderAsked, TakesNoKeysAndOneKey, TakesAnyBytesAsAKey,
                            AddingAgainChangesNothing, ProvesNothingWhileAGenerationIsIncomplete,
                            AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast,
                            FindsWhatTheSameThreadAddedBesideOthersThatAdd);

}  // namespace guestlist::laws
