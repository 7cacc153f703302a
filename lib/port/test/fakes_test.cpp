// The fakes keep the laws of the ports, also the ugly half.

#include <gtest/gtest.h>

#include "fake_membership.hpp"
#include "fake_source.hpp"
#include "fake_value_cache.hpp"
#include "remote_membership_laws.hpp"
#include "remote_source_laws.hpp"
#include "remote_value_cache_laws.hpp"

namespace guestlist::laws {
namespace {

class FakeMembershipForm {
 public:
  Membership& complete() { return membership_; }
  Membership& incomplete() {
    membership_.set_reason(Reason::building);
    return membership_;
  }
  void hold_replies() {
    membership_.checking.hold();
    membership_.adding.hold();
  }
  void cut() {
    membership_.checking.lose_waiting();
    membership_.adding.lose_waiting();
  }
  void heal() {
    membership_.checking.release();
    membership_.adding.release();
  }

 private:
  fake::FakeMembership membership_;
};

class FakeValueCacheForm {
 public:
  ValueCache& cache() { return cache_; }
  void pass(Duration time) { clock_.advance(time); }
  void hold_replies() {
    for (fake::Gate* gate : gates_) gate->hold();
  }
  void cut() {
    for (fake::Gate* gate : gates_) gate->lose_waiting();
  }
  void heal() {
    for (fake::Gate* gate : gates_) gate->release();
  }

 private:
  ManualClock clock_;
  fake::FakeValueCache cache_{clock_};
  std::array<fake::Gate*, 3> gates_{&cache_.getting, &cache_.putting, &cache_.erasing};
};

class FakeSourceForm {
 public:
  Source& source() { return source_; }
  void commit(const Rows& rows) {
    for (const auto& [key, value] : rows) source_.commit(key, value);
  }
  void remove(const std::string& key) { source_.remove(key); }
  void hold_replies() { source_.loading.hold(); }
  void cut() {
    source_.loading.lose_waiting();
    source_.batches.fail_next(1);
  }
  void heal() { source_.loading.release(); }

 private:
  fake::FakeSource source_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Fake, MembershipLaws, FakeMembershipForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteMembershipLaws, FakeMembershipForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, ValueCacheLaws, FakeValueCacheForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteValueCacheLaws, FakeValueCacheForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, SourceLaws, FakeSourceForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, RemoteSourceLaws, FakeSourceForm);

}  // namespace
}  // namespace guestlist::laws
