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
  EXPECT_EQ("\\x0", canonical(KeyType::bytes, "\\x0"));
}

TEST(KeyType, NamesRoundTrip) {
  for (const char* word : {"text", "bytes", "int", "uuid", "decimal"}) {
    EXPECT_EQ(word, name(*key_type_from_name(word)));
  }
  EXPECT_FALSE(key_type_from_name("integer"));
}

RC_GTEST_PROP(KeyType, CanonicalFormsAreTheirOwn, (const std::string& key)) {
  for (const KeyType type : {KeyType::text, KeyType::integer, KeyType::uuid, KeyType::decimal}) {
    const std::string form = canonical(type, key);
    if (form != none) RC_ASSERT(canonical(type, form) == form);
  }
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
