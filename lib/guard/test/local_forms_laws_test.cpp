// The forms of the ports that live in this process keep the ports' laws.

#include <gtest/gtest.h>

#include "guestlist/guard/local_membership.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "membership_laws.hpp"
#include "value_cache_laws.hpp"

namespace guestlist::laws {
namespace {

class LocalMembershipForm {
 public:
  Membership& complete() {
    begin();
    membership_.publish();
    return membership_;
  }
  Membership& incomplete() {
    begin();
    return membership_;
  }

 private:
  void begin() {
    EXPECT_TRUE(membership_.begin_generation(*FilterPlan::make(20'000, 0.01),
                                             KeyHasher::siphash(Secret::random())));
  }

  LocalMembership membership_;
};

class LruValueCacheForm {
 public:
  ValueCache& cache() { return cache_; }
  void pass(Duration time) { clock_.advance(time); }

 private:
  ManualClock clock_;
  LruValueCache cache_{1 << 20, clock_};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, MembershipLaws, LocalMembershipForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Lru, ValueCacheLaws, LruValueCacheForm);

}  // namespace
}  // namespace guestlist::laws
