#include "java_numbers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "redisson_vectors.hpp"

namespace guestlist {
namespace {

TEST(JavaNumbers, PrintsDoublesAsJavaDoes) {
  const auto lines = lines_of("java_double.txt");
  EXPECT_EQ(190u, lines.size());
  for (const Fields& line : lines) {
    EXPECT_EQ(line[1], java_double_text(std::bit_cast<double>(std::stoull(line[0], nullptr, 16))));
  }
}

TEST(JavaNumbers, PrintsDoublesThatReadBackAsTheyWere) {
  EXPECT_TRUE(rc::check([](std::uint64_t bits) {
    const auto value = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(value));
    RC_ASSERT(std::bit_cast<std::uint64_t>(std::strtod(java_double_text(value).c_str(), nullptr)) ==
              bits);
  }));
}

TEST(JavaNumbers, CastsTowardsZeroAndSaturates) {
  EXPECT_EQ(1, java_cast<std::int64_t>(1.9));
  EXPECT_EQ(-1, java_cast<std::int64_t>(-1.9));
  EXPECT_EQ(0, java_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(std::numeric_limits<std::int64_t>::max(), java_cast<std::int64_t>(1e300));
  EXPECT_EQ(std::numeric_limits<std::int64_t>::min(), java_cast<std::int64_t>(-1e300));
  EXPECT_EQ(2147483647, java_cast<std::int32_t>(2147483648.0));
  EXPECT_EQ(2147483647, java_cast<std::int32_t>(2147483647.0));
  EXPECT_EQ(-2147483647 - 1, java_cast<std::int32_t>(-2147483648.5));
}

TEST(JavaNumbers, RoundsHalvesUp) {
  EXPECT_EQ(3, java_round(2.5));
  EXPECT_EQ(-2, java_round(-2.5));
  EXPECT_EQ(0, java_round(-0.5));
}

}  // namespace
}  // namespace guestlist
