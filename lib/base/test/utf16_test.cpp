#include "guestlist/base/utf16.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace guestlist {
namespace {

TEST(Utf16, SplitsWhatLiesBeyondTheBasicPlane) {
  EXPECT_EQ(std::u16string(u"a\u00e9\u54e5\U0001F600"),
            *utf16_from_utf8("a\u00e9\u54e5\U0001F600"));
  EXPECT_EQ("a\u00e9\u54e5\U0001F600", utf8_from_utf16(u"a\u00e9\u54e5\U0001F600"));
}

TEST(Utf16, RefusesWhatIsNotUtf8AndSaysWhere) {
  for (const char* bad : {"ab\xFF", "ab\xC0\x80", "ab\xE0\x80\x80", "ab\xED\xA0\x80",
                          "ab\xF4\x90\x80\x80", "ab\xE5\x93", "ab\x80"}) {
    const auto units = utf16_from_utf8(bad);
    ASSERT_FALSE(units) << bad;
    EXPECT_NE(std::string::npos, units.error().message().find("at byte 2"));
    EXPECT_EQ(2u, valid_utf8_prefix(bad));
  }
  EXPECT_EQ(3u, valid_utf8_prefix("abc"));
}

TEST(Utf16, WritesALoneSurrogateAsAQuestionMark) {
  EXPECT_EQ("?", utf8_from_utf16(std::u16string{0xD800}));
  EXPECT_EQ("?a", utf8_from_utf16(std::u16string{0xDC00, u'a'}));
  EXPECT_EQ("??", utf8_from_utf16(std::u16string{0xDE00, 0xD83D}));
}

TEST(Utf16, ComesBackFromUtf8AsItWas) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& any) {
    std::u16string units;
    for (const std::uint16_t unit : any) {
      if (!is_surrogate(unit)) units += static_cast<char16_t>(unit);
    }
    units += u"\U0010FFFF";
    const std::string bytes = utf8_from_utf16(units);
    RC_ASSERT(valid_utf8_prefix(bytes) == bytes.size());
    RC_ASSERT(*utf16_from_utf8(bytes) == units);
  }));
}

}  // namespace
}  // namespace guestlist
