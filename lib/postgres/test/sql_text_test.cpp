#include "sql_text.hpp"

#include <gtest/gtest.h>

#include "copy_line.hpp"
#include "guestlist/postgres/postgres_lsn.hpp"

namespace guestlist::postgres {
namespace {

using Fields = std::vector<std::string_view>;

TEST(QuotedPostgresIdentifier, CannotBeLeft) {
  EXPECT_EQ("\"a\"\"; DROP TABLE t\"", quoted_identifier("a\"; DROP TABLE t"));
}

TEST(PostgresArrayLiteral, KeepsItsElementsApart) {
  const std::vector<std::optional<std::string>> elements = {"a,b", "", std::nullopt, "\"\\}",
                                                            "NULL"};
  EXPECT_EQ(R"({"a,b","",NULL,"\"\\}","NULL"})", array_literal(elements));
  EXPECT_EQ("{}", array_literal({}));
}

TEST(PostgresText, HasNoZeroByteAndNoBrokenSequence) {
  EXPECT_TRUE(is_postgres_text(""));
  EXPECT_TRUE(is_postgres_text("a\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80"));
  EXPECT_FALSE(is_postgres_text(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_postgres_text("\xC3"));
  EXPECT_FALSE(is_postgres_text("\xED\xA0\x80"));
  EXPECT_FALSE(is_postgres_text("\xC0\xAF"));
}

TEST(CopyLine, GivesItsFieldsWithoutTheirEscapes) {
  CopyLine line;
  ASSERT_TRUE(line.parse("7\ta\\tb\\\\\\n\t\n"));
  EXPECT_EQ((Fields{"7", "a\tb\\\n", ""}), line.fields());
  ASSERT_TRUE(line.parse("\\b\\f\\r\\v\t\\\\N\n"));
  EXPECT_EQ((Fields{"\b\f\r\v", "\\N"}), line.fields());
  ASSERT_TRUE(line.parse("\n"));
  EXPECT_EQ(Fields{""}, line.fields());
}

TEST(CopyLine, IsRefusedWhereCopyDoesNotWriteIt) {
  CopyLine line;
  EXPECT_FALSE(line.parse(""));
  EXPECT_FALSE(line.parse("7"));
  EXPECT_FALSE(line.parse("\\N\n"));
  EXPECT_FALSE(line.parse("a\\\n"));
  EXPECT_FALSE(line.parse("\\x41\n"));
}

TEST(PostgresLsn, ReadsAndWritesTheServersForm) {
  EXPECT_EQ(0x16'B374'D848u, PostgresLsn::parse("16/B374D848")->value);
  EXPECT_EQ("16/B374D848", PostgresLsn{0x16'B374'D848}.text());
  EXPECT_EQ("0/0", PostgresLsn{}.text());
  for (const char* wrong : {"", "/", "16", "16/", "/1", "G/1", "1/123456789", "1/2/3", "1/-2"})
    EXPECT_FALSE(PostgresLsn::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace guestlist::postgres
