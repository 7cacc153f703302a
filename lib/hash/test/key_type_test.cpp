#include "guestlist/hash/key_type.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace guestlist {
namespace {

constexpr const char* none = "(none)";

std::string canonical(KeyType type, std::string_view key) {
  std::string buffer;
  const auto form = canonicalize(type, key, buffer);
  return form ? std::string(*form) : none;
}

TEST(KeyType, SpellingsOfOneIntegerFallTogether) {
  for (const char* spelling : {"7", "007", "+7", " 7", "7\n", "\t+007 "}) {
    EXPECT_EQ("7", canonical(KeyType::integer, spelling)) << spelling;
  }
  for (const char* spelling : {"0", "-0", "+000"})
    EXPECT_EQ("0", canonical(KeyType::integer, spelling));
  EXPECT_EQ("-12", canonical(KeyType::integer, " -0012"));
  EXPECT_EQ("99999999999999999999999", canonical(KeyType::integer, "99999999999999999999999"));
}

TEST(KeyType, WhatIsNoIntegerHasNoForm) {
  for (const char* key :
       {"", " ", "-", "1.0", "1 2", "0x7", "7a", "--7", "+-7", "1e3", "\xD9\xA7"}) {
    EXPECT_EQ(none, canonical(KeyType::integer, key)) << key;
  }
}

TEST(KeyType, SpellingsOfOneUuidFallTogether) {
  const std::string form = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
  for (const char* spelling :
       {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
        "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}"}) {
    EXPECT_EQ(form, canonical(KeyType::uuid, spelling)) << spelling;
  }
}

TEST(KeyType, WhatIsNoUuidHasNoForm) {
  for (const char* key :
       {"", "{", "{}", "a0eebc99", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
        "{a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
        "-a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11-",
        "a0e-ebc999c0b4ef8bb6d6bb9bd380a11", "g0eebc999c0b4ef8bb6d6bb9bd380a11",
        "a0eebc999c0b4ef8bb6d6bb9bd380a1111"}) {
    EXPECT_EQ(none, canonical(KeyType::uuid, key)) << key;
  }
}

TEST(KeyType, SpellingsOfOneDecimalFallTogether) {
  for (const char* spelling : {"1", "1.0", "1.00", "01", "+1.", "1e0", "10e-1", "0.1E1", " 1 "}) {
    EXPECT_EQ("1", canonical(KeyType::decimal, spelling)) << spelling;
  }
  EXPECT_EQ("-12.5", canonical(KeyType::decimal, "-12.500"));
  EXPECT_EQ("0.001", canonical(KeyType::decimal, "1e-3"));
  EXPECT_EQ("0", canonical(KeyType::decimal, "-0.000e99"));
  EXPECT_EQ("NaN", canonical(KeyType::decimal, "nan"));
  EXPECT_EQ("Infinity", canonical(KeyType::decimal, "+inf"));
  EXPECT_EQ("-Infinity", canonical(KeyType::decimal, "-INFINITY"));
}

TEST(KeyType, HugeExponentsStayShortAndEqualSpellingsOfThemFallTogether) {
  EXPECT_EQ("1e999999", canonical(KeyType::decimal, "1e999999"));
  EXPECT_EQ(canonical(KeyType::decimal, "1e200"),
            canonical(KeyType::decimal, "1" + std::string(200, '0')));
  EXPECT_EQ(canonical(KeyType::decimal, "1e-200"),
            canonical(KeyType::decimal, "0." + std::string(199, '0') + "1"));
  EXPECT_EQ(none, canonical(KeyType::decimal, "1e99999999999999999999"));
}

TEST(KeyType, AFormThatCouldNotBeReadBackIsNoForm) {
  EXPECT_EQ("1e999999999", canonical(KeyType::decimal, "1e999999999"));
  EXPECT_EQ(none, canonical(KeyType::decimal, "10e999999999"));
  EXPECT_EQ("1e-999999999", canonical(KeyType::decimal, "1.0e-999999999"));
  EXPECT_EQ(none, canonical(KeyType::decimal, "0.1e-999999999"));
  EXPECT_EQ("0", canonical(KeyType::decimal, "0e999999999"));
}

TEST(KeyType, WhatIsNoDecimalHasNoForm) {
  for (const char* key :
       {"", ".", "-", "e5", "1e", "1e+", "1.2.3", "0x1", "1_0", "Infinit", "--1"}) {
    EXPECT_EQ(none, canonical(KeyType::decimal, key)) << key;
  }
}

TEST(KeyType, TextAndBytesAreExact) {
  const std::string odd("\0 \xFF\n", 4);
  EXPECT_EQ(odd, canonical(KeyType::text, odd));
  EXPECT_EQ("", canonical(KeyType::text, ""));
  EXPECT_EQ(odd, canonical(KeyType::bytes, odd));
  EXPECT_EQ(odd, canonical(KeyType::bytes, "\\x0020FF0a"));
  EXPECT_EQ(odd, canonical(KeyType::bytes, "\\x 00 20\nff\t0A "));
  EXPECT_EQ("\\x0", canonical(KeyType::bytes, "\\x0"));
  EXPECT_EQ("\\x0 0", canonical(KeyType::bytes, "\\x0 0"));
  EXPECT_EQ("", canonical(KeyType::bytes, "\\x"));
}

TEST(KeyType, NamesRoundTrip) {
  for (const char* word : {"text", "bytes", "int", "uuid", "decimal"}) {
    EXPECT_EQ(word, name(*key_type_from_name(word)));
  }
  EXPECT_FALSE(key_type_from_name("integer"));
}

// Arbitrary strings hardly ever parse, so these are put together from parts that do.
std::string digits_text() {
  return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("00129")));
}

std::string integer_text() {
  return *rc::gen::element<std::string>("", "+", "-", " -") + digits_text() + "0";
}

std::string decimal_text() {
  return integer_text() + "." + digits_text() +
         *rc::gen::element<std::string>("", "e0 ", "E+7", "e-200", "e999999999", "e-999999999");
}

rc::Gen<std::string> uuid_text() {
  return rc::gen::container<std::string>(32,
                                         rc::gen::elementOf(std::string("0123456789abcdefABCDEF")));
}

void assert_form_is_its_own(KeyType type, const std::string& key) {
  const std::string form = canonical(type, key);
  if (form != none) RC_ASSERT(canonical(type, form) == form);
}

RC_GTEST_PROP(KeyType, CanonicalFormsAreTheirOwn, ()) {
  assert_form_is_its_own(KeyType::integer, integer_text());
  assert_form_is_its_own(KeyType::decimal, decimal_text());
  assert_form_is_its_own(KeyType::uuid, *uuid_text());
  assert_form_is_its_own(KeyType::text, *rc::gen::arbitrary<std::string>());
}

RC_GTEST_PROP(KeyType, IntegersDoNotDependOnTheirSpelling,
              (std::int64_t value, std::uint8_t zeros)) {
  std::string spelling = std::to_string(value);
  const std::size_t digits_at = value < 0 ? 1 : 0;
  spelling.insert(digits_at, zeros, '0');
  if (value >= 0) spelling.insert(0, "+");
  RC_ASSERT(canonical(KeyType::integer, "\t " + spelling + "\n") == std::to_string(value));
}

RC_GTEST_PROP(KeyType, IntegersAndDecimalsAgreeOnWholeNumbers, (std::int64_t value)) {
  const std::string digits = std::to_string(value);
  RC_ASSERT(canonical(KeyType::integer, digits) == canonical(KeyType::decimal, digits + ".00"));
}

RC_GTEST_PROP(KeyType, UuidsDoNotDependOnCaseDashesAndBraces, (std::uint8_t dashes, bool braced)) {
  const std::string digits = *uuid_text();
  std::string spelling;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    // A dash may stand after each of the first seven groups of four.
    if (at > 0 && at % 4 == 0 && (dashes >> (at / 4) & 1) != 0) spelling += '-';
    spelling += digits[at];
  }
  if (braced) spelling = "{" + spelling + "}";
  const std::string form = canonical(KeyType::uuid, spelling);
  RC_ASSERT(form.size() == 36u);
  RC_ASSERT(form == canonical(KeyType::uuid, digits));
}

RC_GTEST_PROP(KeyType, DecimalsDoNotDependOnTheirSpelling,
              (std::int32_t digits, std::uint8_t shift)) {
  // digits x 10^-shift, once with an exponent, once written out with trailing zeros.
  const std::string with_exponent = std::to_string(digits) + "e-" + std::to_string(shift);
  std::string plain = std::to_string(digits < 0 ? -static_cast<std::int64_t>(digits) : digits);
  plain.insert(0, static_cast<std::size_t>(shift) + 1, '0');
  plain.insert(plain.size() - shift, ".");
  if (digits < 0) plain.insert(0, "-");
  RC_ASSERT(canonical(KeyType::decimal, with_exponent) ==
            canonical(KeyType::decimal, plain + "00"));
}

}  // namespace
}  // namespace guestlist
