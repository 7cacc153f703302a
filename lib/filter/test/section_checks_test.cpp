#include "section_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace guestlist::filter_file {
namespace {

/// Two sections and a short third one.
class SectionChecksTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 0; i < section_count(body_.size()); ++i) {
      const std::uint64_t start = i * section_bytes;
      const ByteView bytes =
          ByteView(body_).subspan(start, std::min(section_bytes, body_.size() - start));
      store_little_endian(&table_[i * checksum_bytes], checksum(bytes));
    }
  }

  std::vector<std::byte> body_ = std::vector<std::byte>(2 * section_bytes + 100, std::byte{7});
  std::vector<std::byte> table_ = std::vector<std::byte>(3 * checksum_bytes);
};

TEST_F(SectionChecksTest, KnowWhenNothingIsLeftToVerify) {
  SectionChecks checks(table_, body_);
  EXPECT_EQ(3U, checks.count());
  EXPECT_TRUE(checks.intact(0, 64));
  EXPECT_TRUE(checks.intact(64, 64));
  EXPECT_TRUE(checks.intact(section_bytes, 1));
  EXPECT_FALSE(checks.all_intact());
  EXPECT_TRUE(checks.intact_section(2));
  EXPECT_TRUE(checks.all_intact());
}

TEST_F(SectionChecksTest, RefuseARangeWhoseLastByteIsInADamagedSection) {
  body_[section_bytes + 5] = std::byte{0};
  SectionChecks checks(table_, body_);
  EXPECT_TRUE(checks.intact(section_bytes - 8, 8));
  EXPECT_FALSE(checks.intact(section_bytes - 8, 9));
  EXPECT_FALSE(checks.intact(section_bytes, 1));
  EXPECT_FALSE(checks.intact(0, 2 * section_bytes + 100));
  EXPECT_TRUE(checks.intact(2 * section_bytes, 100));
  EXPECT_FALSE(checks.all_intact());
}

TEST_F(SectionChecksTest, RememberWhatTheyFound) {
  SectionChecks checks(table_, body_);
  EXPECT_TRUE(checks.intact(0, 1));
  body_[0] = std::byte{0};
  body_[section_bytes] = std::byte{0};
  EXPECT_TRUE(checks.intact(0, 1)) << "a section is read once only";
  EXPECT_FALSE(checks.intact(section_bytes, 1));
  body_[section_bytes] = std::byte{7};
  EXPECT_FALSE(checks.intact(section_bytes, 1)) << "a section that failed stays failed";
}

}  // namespace
}  // namespace guestlist::filter_file
