#include "key_column.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guestlist::postgres {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t integer_id = 23;
constexpr std::uint32_t numeric_id = 1700;
constexpr std::uint32_t text_id = 25;
constexpr std::uint32_t char_id = 1042;
constexpr std::uint32_t bytea_id = 17;

KeyColumn column(std::uint32_t type_id) {
  return *KeyColumn::make({.name = "id", .type_id = type_id, .encoding = "UTF8"});
}

TEST(KeyColumn, RefusesByNameWhatItDoesNotCompareAsPostgresDoes) {
  const auto why = [](const ColumnDescription& description) {
    const auto refused = KeyColumn::make(description);
    EXPECT_EQ(Errc::invalid_argument, refused.error().code);
    return refused.error().message();
  };
  EXPECT_THAT(why({.name = "id", .type_id = 99'999, .type_name = "citext"}), HasSubstr("citext"));
  EXPECT_THAT(why({.name = "at", .type_id = 1184, .type_name = "timestamptz"}),
              HasSubstr("'at' cannot be a key: its type timestamptz"));
  EXPECT_THAT(why({.name = "id",
                   .type_id = text_id,
                   .collation = "folded",
                   .collation_is_deterministic = false}),
              HasSubstr("'folded'"));
  EXPECT_THAT(why({.name = "id", .type_id = text_id, .encoding = "SQL_ASCII"}),
              HasSubstr("SQL_ASCII"));
}

TEST(KeyColumn, HasNoValueForAnIntegerBeyondSixtyFourBits) {
  const KeyColumn id = column(integer_id);
  EXPECT_EQ("9223372036854775807", id.as_value("9223372036854775807"));
  EXPECT_EQ("-9223372036854775808", id.as_value("-9223372036854775808"));
  EXPECT_FALSE(id.as_value("9223372036854775808"));
  EXPECT_FALSE(id.as_value("-99999999999999999999999"));
}

TEST(KeyColumn, HasNoValueForANumberThatNumericCannotHold) {
  const KeyColumn price = column(numeric_id);
  for (const char* fits : {"0", "-1.5", "NaN", "-Infinity", "1e131071", "1e-16383", "12e131070"})
    EXPECT_EQ(fits, price.as_value(fits));
  for (const char* beyond : {"1e131072", "12e131071", "1e-16384", "-1e999999999"})
    EXPECT_FALSE(price.as_value(beyond)) << beyond;
}

TEST(KeyColumn, HasNoValueForTextThatPostgresCannotHold) {
  const KeyColumn name = column(text_id);
  EXPECT_EQ("a'b", name.as_value("a'b"));
  EXPECT_FALSE(name.as_value(std::string_view("a\0", 2)));
  EXPECT_FALSE(name.as_value("\xFF"));
}

TEST(KeyColumn, DropsTheTrailingBlanksThatCharDoesNotCompare) {
  std::string buffer;
  EXPECT_EQ(" ab", column(char_id).canonical(" ab   ", buffer));
  EXPECT_EQ("", column(char_id).canonical("   ", buffer));
  EXPECT_EQ(" ab   ", column(text_id).canonical(" ab   ", buffer));
}

TEST(KeyColumn, GivesBytesInHexadecimalDigits) {
  EXPECT_EQ("\\x00ff5c78", column(bytea_id).as_value(std::string_view("\0\xFF\\x", 4)));
}

}  // namespace
}  // namespace guestlist::postgres
