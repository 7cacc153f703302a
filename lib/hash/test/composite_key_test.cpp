#include "guestlist/hash/composite_key.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace guestlist {
namespace {

using Parts = std::vector<std::string>;

TEST(CompositeKey, JoinsItsPartsByCommasAndEscapesThoseWithin) {
  EXPECT_EQ("7,DE", join_key(Parts{"7", "DE"}));
  EXPECT_EQ("a\\,b,c", join_key(Parts{"a,b", "c"}));
  EXPECT_EQ("a,b\\,c", join_key(Parts{"a", "b,c"}));
  EXPECT_EQ("\\\\,\\,", join_key(Parts{"\\", ","}));
  EXPECT_EQ(",", join_key(Parts{"", ""}));
}

TEST(CompositeKey, OfOnePartIsThatPart) {
  EXPECT_EQ("a,b\\", join_key(Parts{"a,b\\"}));
  EXPECT_EQ(Parts{"a,b\\"}, split_key("a,b\\", 1));
}

TEST(CompositeKey, IsRefusedWhereItHasAnotherNumberOfPartsOrAStrayEscape) {
  EXPECT_FALSE(split_key("a", 2));
  EXPECT_FALSE(split_key("a,b,c", 2));
  EXPECT_FALSE(split_key("a\\,b", 2));
  EXPECT_FALSE(split_key("a,b\\", 2));
  EXPECT_FALSE(split_key("\\a,b", 2));
}

RC_GTEST_PROP(CompositeKey, GivesItsPartsBack, (const Parts& some)) {
  Parts parts = some;
  parts.insert(parts.end(), {",\\", "\\,"});
  RC_ASSERT(split_key(join_key(parts), parts.size()) == parts);
}

}  // namespace
}  // namespace guestlist
