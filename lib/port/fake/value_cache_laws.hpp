#pragma once

// What every ValueCache promises, as a typed suite: the fake and every real form pass it. A cache
// may lose anything at any time; it does not lose the few values of these laws.
//
//   struct LruValueCacheForm {
//     ValueCache& cache();       an empty one, for 1 MiB of values or more
//     void pass(Duration time);  moves the cache's clock, or waits
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Lru, ValueCacheLaws, LruValueCacheForm);
//
// A form is made anew for each law. One behind a connection passes remote_value_cache_laws.hpp as
// well.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "guestlist/port/value_cache.hpp"
#include "replies.hpp"

namespace guestlist::laws {

using Value = std::optional<std::string>;

inline Replies<Result<Value>> start_get(ValueCache& cache, std::string key, Deadline deadline) {
  Replies<Result<Value>> replies;
  cache.get(key, deadline, replies.completion());
  std::ranges::fill(key, '?');
  return replies;
}

inline Replies<Result<void>> start_put(ValueCache& cache, std::string key, std::string value,
                                       Duration time_to_live, Deadline deadline) {
  Replies<Result<void>> replies;
  cache.put(key, value, time_to_live, deadline, replies.completion());
  std::ranges::fill(key, '?');
  std::ranges::fill(value, '?');
  return replies;
}

inline Replies<Result<void>> start_erase(ValueCache& cache, std::string key, Deadline deadline) {
  Replies<Result<void>> replies;
  cache.erase(key, deadline, replies.completion());
  std::ranges::fill(key, '?');
  return replies;
}

/// That an answer came, and once, is part of every law.
template <class T>
Result<T> answer_of(const Replies<Result<T>>& replies) {
  const auto answer = replies.first();
  EXPECT_TRUE(answer) << "a call was never answered";
  EXPECT_EQ(1u, replies.count());
  return answer ? *answer : Result<T>(fail(Errc::unavailable, "never answered"));
}

inline Result<Value> get(ValueCache& cache, const std::string& key, Deadline deadline = in_time()) {
  return answer_of(start_get(cache, key, deadline));
}

inline Result<void> put(ValueCache& cache, const std::string& key, const std::string& value,
                        Duration time_to_live = std::chrono::hours(1),
                        Deadline deadline = in_time()) {
  return answer_of(start_put(cache, key, value, time_to_live, deadline));
}

inline Result<void> erase(ValueCache& cache, const std::string& key,
                          Deadline deadline = in_time()) {
  return answer_of(start_erase(cache, key, deadline));
}

template <class Form>
class ValueCacheLaws : public testing::Test {
 protected:
  Form form_;
};
TYPED_TEST_SUITE_P(ValueCacheLaws);

TYPED_TEST_P(ValueCacheLaws, GivesTheValueThatWasPutLastAndNothingWhereNoneWas) {
  ValueCache& cache = this->form_.cache();
  EXPECT_EQ(Value(), get(cache, "a").value());
  ASSERT_TRUE(put(cache, "a", "1"));
  EXPECT_EQ(Value("1"), get(cache, "a").value());
  ASSERT_TRUE(put(cache, "a", "2"));
  EXPECT_EQ(Value("2"), get(cache, "a").value());
  EXPECT_EQ(Value(), get(cache, "b").value());
}

TYPED_TEST_P(ValueCacheLaws, ForgetsWhatIsErasedAndOnlyThat) {
  ValueCache& cache = this->form_.cache();
  ASSERT_TRUE(put(cache, "a", "1"));
  ASSERT_TRUE(put(cache, "b", "2"));
  EXPECT_TRUE(erase(cache, "a"));
  EXPECT_EQ(Value(), get(cache, "a").value());
  EXPECT_EQ(Value("2"), get(cache, "b").value());
  EXPECT_TRUE(erase(cache, "never put"));
}

TYPED_TEST_P(ValueCacheLaws, ForgetsAValueWhenItsTimeIsOver) {
  ValueCache& cache = this->form_.cache();
  ASSERT_TRUE(put(cache, "short", "1", std::chrono::milliseconds(30)));
  ASSERT_TRUE(put(cache, "long", "2"));
  ASSERT_TRUE(put(cache, "lengthened", "3", std::chrono::milliseconds(30)));
  ASSERT_TRUE(put(cache, "lengthened", "4"));
  this->form_.pass(std::chrono::milliseconds(40));
  EXPECT_EQ(Value(), get(cache, "short").value());
  EXPECT_EQ(Value("2"), get(cache, "long").value());
  EXPECT_EQ(Value("4"), get(cache, "lengthened").value());
}

TYPED_TEST_P(ValueCacheLaws, TakesAnyBytesAsAKeyAndAsAValue) {
  ValueCache& cache = this->form_.cache();
  const std::vector<std::string> texts = {"",       std::string("a\0b", 3),   "\r\n",    "{tag}",
                                          "%d%s*?", std::string(20'000, 'k'), "\xFF\xFE"};
  for (const std::string& text : texts) ASSERT_TRUE(put(cache, text, text));
  for (const std::string& text : texts) EXPECT_EQ(Value(text), get(cache, text).value());
}

TYPED_TEST_P(ValueCacheLaws, AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast) {
  ValueCache& cache = this->form_.cache();
  ASSERT_TRUE(put(cache, "a", "1"));
  if (const auto value = get(cache, "a", already_past())) {
    EXPECT_EQ(Value("1"), *value);
  }
  if (erase(cache, "a", already_past())) {
    EXPECT_EQ(Value(), get(cache, "a").value());
  }
  ASSERT_TRUE(erase(cache, "a"));
  if (put(cache, "b", "2", std::chrono::hours(1), already_past())) {
    EXPECT_EQ(Value("2"), get(cache, "b").value());
  }
}

TYPED_TEST_P(ValueCacheLaws, MixesNoValuesOfThreads) {
  ValueCache& cache = this->form_.cache();
  on_four_threads([&](int number) {
    for (int i = 0; i < 50; ++i) {
      const std::string text = std::to_string(number) + "/" + std::to_string(i);
      EXPECT_TRUE(put(cache, text, text));
      EXPECT_EQ(Value(text), get(cache, text).value());
      EXPECT_TRUE(erase(cache, text));
      EXPECT_EQ(Value(), get(cache, text).value());
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(ValueCacheLaws, GivesTheValueThatWasPutLastAndNothingWhereNoneWas,
                            ForgetsWhatIsErasedAndOnlyThat, ForgetsAValueWhenItsTimeIsOver,
                            TakesAnyBytesAsAKeyAndAsAValue,
                            AnswersOnceAndNeverFalselyWhereTheDeadlineIsPast,
                            MixesNoValuesOfThreads);

}  // namespace guestlist::laws
