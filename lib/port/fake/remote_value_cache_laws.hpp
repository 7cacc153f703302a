#pragma once

// What a ValueCache behind a connection promises besides, when that connection is slow or lost. Its
// form is that of ValueCacheLaws with the gate that replies.hpp describes.

#include "value_cache_laws.hpp"

namespace guestlist::laws {

template <class Form>
class RemoteValueCacheLaws : public ValueCacheLaws<Form> {};
TYPED_TEST_SUITE_P(RemoteValueCacheLaws);

TYPED_TEST_P(RemoteValueCacheLaws, TakesNoLateReplyForThatOfAnotherKey) {
  ValueCache& cache = this->form_.cache();
  ASSERT_TRUE(put(cache, "a", "1"));
  ASSERT_TRUE(put(cache, "b", "2"));
  const auto late =
      answer_late(this->form_, [&](Deadline deadline) { return start_get(cache, "a", deadline); });
  const auto waiting = start_get(cache, "b", in_time());
  this->form_.heal();
  if (const auto value = answer_of(waiting)) {
    EXPECT_EQ(Value("2"), *value);
  }
  if (const auto value = answer_of(late)) {
    EXPECT_EQ(Value("1"), *value);
  }
  EXPECT_TRUE(eventually([&] { return get(cache, "b").has_value(); }));
  EXPECT_EQ(Value("2"), get(cache, "b").value());
  EXPECT_EQ(1u, late.count());
}

TYPED_TEST_P(RemoteValueCacheLaws, ErasesAlsoWhatWasPutWithoutAReply) {
  ValueCache& cache = this->form_.cache();
  const auto putting = lose_reply(this->form_, [&](Deadline deadline) {
    return start_put(cache, "a", "1", std::chrono::hours(1), deadline);
  });
  static_cast<void>(answer_of(putting));
  EXPECT_TRUE(eventually([&] { return erase(cache, "a").has_value(); }));
  EXPECT_EQ(Value(), get(cache, "a").value());
}

TYPED_TEST_P(RemoteValueCacheLaws, MayEraseAgainWhatLostItsConnectionAfterTheWrite) {
  ValueCache& cache = this->form_.cache();
  ASSERT_TRUE(put(cache, "a", "1"));
  const auto erasing =
      lose_reply(this->form_, [&](Deadline deadline) { return start_erase(cache, "a", deadline); });
  if (answer_of(erasing)) {
    if (const auto value = get(cache, "a")) {
      EXPECT_EQ(Value(), *value);
    }
  }
  EXPECT_TRUE(eventually([&] { return erase(cache, "a").has_value(); }));
  EXPECT_EQ(Value(), get(cache, "a").value());
}

REGISTER_TYPED_TEST_SUITE_P(RemoteValueCacheLaws, TakesNoLateReplyForThatOfAnotherKey,
                            ErasesAlsoWhatWasPutWithoutAReply,
                            MayEraseAgainWhatLostItsConnectionAfterTheWrite);

}  // namespace guestlist::laws
