#include "guestlist/redis/guava_bitmap_layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "redisson_vectors.hpp"

namespace guestlist {
namespace {

std::vector<std::uint64_t> places_of(std::string_view funnelled, const GuavaBitmapSize& size) {
  GuavaBitmapProbes probes(funnelled, size.bits);
  std::vector<std::uint64_t> places;
  for (std::uint32_t i = 0; i < size.probes; ++i) places.push_back(probes.next());
  return places;
}

TEST(GuavaBitmapLayout, HasTheSizesAndPlacesThatJavaComputes) {
  const auto lines = lines_of("guava_bitmap.txt");
  EXPECT_EQ(15u, lines.size());
  for (const Fields& line : lines) {
    const auto size = GuavaBitmapSize::make(std::stoull(line[0]), std::stod(line[1]));
    ASSERT_TRUE(size);
    EXPECT_EQ(std::stoul(line[2]), size->bits);
    EXPECT_EQ(std::stoul(line[3]), size->probes);
    const std::string key = bytes_of_hex(line[4]);
    std::string buffer;
    EXPECT_EQ(numbers_of(line[5]), places_of(*funnel(GuavaBitmapFunnel::once, key, buffer), *size));
    EXPECT_EQ(numbers_of(line[6]),
              places_of(*funnel(GuavaBitmapFunnel::twice, key, buffer), *size));
  }
}

TEST(GuavaBitmapLayout, SaysWhereTheSizeIsCappedAndWhatThatCosts) {
  const auto capped = GuavaBitmapSize::make(300'000'000, 0.01);
  ASSERT_TRUE(capped);
  EXPECT_TRUE(capped->is_capped());
  EXPECT_GT(capped->fpr(300'000'000), 0.03);
  const auto fits = GuavaBitmapSize::make(1'000'000, 0.01);
  EXPECT_FALSE(fits->is_capped());
  EXPECT_NEAR(0.01, fits->fpr(1'000'000), 1e-4);
  EXPECT_TRUE(GuavaBitmapSize::make(~std::uint64_t{0}, 1e-9)->is_capped());
}

TEST(GuavaBitmapLayout, RefusesWhatHasNoSize) {
  EXPECT_FALSE(GuavaBitmapSize::make(0, 0.01));
  EXPECT_FALSE(GuavaBitmapSize::make(10, 0));
  EXPECT_FALSE(GuavaBitmapSize::make(10, 1));
  EXPECT_FALSE(GuavaBitmapSize::make(10, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(GuavaBitmapSize::make(1, 0.99));
}

TEST(GuavaBitmapLayout, RefusesKeysThatAreNoText) {
  std::string buffer;
  for (const auto kind : {GuavaBitmapFunnel::once, GuavaBitmapFunnel::twice}) {
    const auto bytes = funnel(kind, "a\xFF", buffer);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(Errc::invalid_argument, bytes.error().code);
    EXPECT_EQ(kind, guava_bitmap_funnel_from_name(name(kind)));
  }
  EXPECT_FALSE(guava_bitmap_funnel_from_name("thrice"));
}

TEST(GuavaBitmapLayout, KnowsTheKeyOfARedisTemplate) {
  EXPECT_EQ(std::string("\xAC\xED\x00\x05\x74\x00\x05users", 12), *jdk_serialized_key("users"));
  EXPECT_FALSE(jdk_serialized_key("\xFF"));
}

TEST(GuavaBitmapLayout, NeverDeniesAKeyWhoseBitsAreSet) {
  EXPECT_TRUE(rc::check([](const std::set<std::string>& keys, const std::string& other) {
    const auto size = *GuavaBitmapSize::make(50, 0.03);
    std::vector<std::byte> bytes;
    for (const std::string& key : keys) {
      for (const std::uint64_t place : places_of(key, size)) {
        RC_ASSERT(place < size.bits);
        if (bytes.size() <= redis_byte_of_bit(place)) bytes.resize(redis_byte_of_bit(place) + 1);
        bytes[redis_byte_of_bit(place)] |= redis_mask_of_bit(place);
      }
    }
    const RedisBitmap bitmap(bytes);
    for (const std::string& key : keys) RC_ASSERT(may_contain(bitmap, size, key));
    if (keys.empty()) RC_ASSERT(!may_contain(bitmap, size, other));
  }));
}

}  // namespace
}  // namespace guestlist
