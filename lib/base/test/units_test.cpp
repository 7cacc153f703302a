#include "guestlist/base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace guestlist {
namespace {

TEST(Units, BytesChangeUnitWhereTheyWouldPrintAs1024) {
  EXPECT_EQ("0 B", format_bytes(0));
  EXPECT_EQ("1023 B", format_bytes(1023));
  EXPECT_EQ("1.0 KiB", format_bytes(1024));
  EXPECT_EQ("1.0 MiB", format_bytes(1024 * 1024 - 1));
  EXPECT_EQ("6.0 GiB", format_bytes(std::uint64_t{6} << 30));
  EXPECT_EQ("16.0 EiB", format_bytes(~std::uint64_t{0}));
}

TEST(Units, CountsAreGroupedByThree) {
  EXPECT_EQ("0", format_count(0));
  EXPECT_EQ("999", format_count(999));
  EXPECT_EQ("1,000", format_count(1000));
  EXPECT_EQ("18,446,744,073,709,551,615", format_count(~std::uint64_t{0}));
}

TEST(Units, SecondsShowTheUnitsThatMatter) {
  EXPECT_EQ("850 us", format_seconds(850e-6));
  EXPECT_EQ("2.4 ms", format_seconds(0.0024));
  EXPECT_EQ("24 ms", format_seconds(0.0241));
  EXPECT_EQ("3.2 s", format_seconds(3.2));
  EXPECT_EQ("4 min 10 s", format_seconds(250));
  EXPECT_EQ("2 h 0 min", format_seconds(7200));
  EXPECT_EQ("-", format_seconds(NAN));
}

}  // namespace
}  // namespace guestlist
