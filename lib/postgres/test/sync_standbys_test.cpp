#include "sync_standbys.hpp"

#include <gtest/gtest.h>

namespace guestlist::postgres {
namespace {

TEST(SyncStandbys, ReadsEveryFormOfTheSetting) {
  EXPECT_TRUE(SyncStandbys::parse("").names.empty());
  const auto list = SyncStandbys::parse("a, \"B b\",c");
  EXPECT_EQ(1u, list.wanted);
  EXPECT_EQ((std::vector<std::string>{"a", "B b", "c"}), list.names);
  const auto first = SyncStandbys::parse("FIRST 2 (a, b, c)");
  EXPECT_EQ(2u, first.wanted);
  EXPECT_EQ(SyncStandbys::Method::first, first.method);
  EXPECT_EQ(3u, first.names.size());
  const auto any = SyncStandbys::parse("any 3(\"x\"\"y\" ,*)");
  EXPECT_EQ(3u, any.wanted);
  EXPECT_EQ(SyncStandbys::Method::any, any.method);
  EXPECT_EQ((std::vector<std::string>{"x\"y", "*"}), any.names);
  EXPECT_EQ(2u, SyncStandbys::parse("2 (a, b)").wanted);
}

TEST(SyncStandbys, KnowsWhoIsWaitedFor) {
  EXPECT_TRUE(SyncStandbys::parse("ANY 1 (Guestlist)").holds("guestlist"));
  EXPECT_TRUE(SyncStandbys::parse("*").holds("anybody"));
  EXPECT_FALSE(SyncStandbys::parse("FIRST 1 (a, b)").holds("guestlist"));
  EXPECT_FALSE(SyncStandbys::parse("").holds(""));
}

}  // namespace
}  // namespace guestlist::postgres
