#include "guestlist/redis/redisson_codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <limits>

#include "guestlist/base/utf16.hpp"
#include "redisson_vectors.hpp"

namespace guestlist {
namespace {

constexpr std::array text_codecs = {
    RedissonCodec::string,
    RedissonCodec::long_integer,
    RedissonCodec::integer,
    RedissonCodec::json_jackson,
    RedissonCodec::typed_json_jackson,
    RedissonCodec::kryo5,
    RedissonCodec::kryo5_references,
    RedissonCodec::marshalling,
    RedissonCodec::serialization,
};

std::string hex_of(RedissonCodec codec, const JavaValue& key) {
  return to_hex(as_bytes(*encode(codec, key)));
}

TEST(RedissonCodec, GivesTheBytesThatRedissonHashes) {
  int checked = 0;
  for (const char* kind : {"key", "derived-key"}) {
    for (const Fields& line : redisson_lines(kind)) {
      const auto codec = redisson_codec_from_name(line[1]);
      ASSERT_TRUE(codec) << line[1];
      const auto encoded = encode(*codec, java_value_of(line[2], line[3]));
      ASSERT_TRUE(encoded);
      EXPECT_EQ(line[4] == "-" ? "" : line[4], to_hex(as_bytes(*encoded)))
          << line[1] << " " << line[2] << " " << line[3];
      ++checked;
    }
  }
  EXPECT_EQ(401 + 21, checked);
}

TEST(RedissonCodec, EncodesTextFromTheCommandLineAsItEncodesJavasString) {
  std::string buffer;
  for (const Fields& line : redisson_lines("derived-key")) {
    const JavaValue value = java_value_of(line[2], line[3]);
    const auto* units = std::get_if<std::u16string>(&value);
    const std::string text = units ? utf8_from_utf16(*units) : line[3];
    const auto encoding = RedissonEncoding::parse(line[1], line[2]);
    ASSERT_TRUE(encoding);
    EXPECT_EQ(line[4], to_hex(as_bytes(*encoding->encode(text, buffer)))) << line[1] << " " << text;
  }
}

TEST(RedissonCodec, ChangesTheFormOfALengthWhereTheFormatDoes) {
  struct Row {
    RedissonCodec codec;
    std::size_t length;
    const char* head;
  };
  for (const Row& row : {Row{RedissonCodec::kryo5, 1, "0382"},
                         {RedissonCodec::kryo5, 2, "0378f8"},
                         {RedissonCodec::kryo5, 33, "03a2"},
                         {RedissonCodec::kryo5, 62, "03bf"},
                         {RedissonCodec::kryo5, 63, "03c001"},
                         {RedissonCodec::kryo5, 8190, "03ff7f"},
                         {RedissonCodec::kryo5, 8191, "03c08001"},
                         {RedissonCodec::marshalling, 0, "043d"},
                         {RedissonCodec::marshalling, 255, "043eff"},
                         {RedissonCodec::marshalling, 256, "043e00"},
                         {RedissonCodec::marshalling, 257, "043f0101"},
                         {RedissonCodec::marshalling, 65536, "043f0000"},
                         {RedissonCodec::marshalling, 65537, "044000010001"},
                         {RedissonCodec::serialization, 65535, "aced000574ffff"},
                         {RedissonCodec::serialization, 65536, "aced00057c0000000000010000"}}) {
    const std::string hex = hex_of(row.codec, std::u16string(row.length, u'x'));
    const std::string head = row.head;
    EXPECT_EQ(head, hex.substr(0, head.size())) << name(row.codec) << " " << row.length;
    if (row.length > 2) {
      EXPECT_EQ(head.size() + 2 * row.length, hex.size());
    }
  }
}

TEST(RedissonCodec, HasNoFormForBytesButThatOfByteArrayCodec) {
  EXPECT_EQ(std::string("\xFF\0", 2), *encode(RedissonCodec::byte_array, JavaBytes{{"\xFF\0", 2}}));
  for (const RedissonCodec codec : text_codecs) {
    const auto encoded = encode(codec, JavaBytes{"x"});
    ASSERT_FALSE(encoded) << name(codec);
    EXPECT_EQ(Errc::invalid_argument, encoded.error().code);
  }
  EXPECT_FALSE(encode(RedissonCodec::byte_array, u"x"));
  EXPECT_FALSE(encode(RedissonCodec::byte_array, std::int64_t{1}));
}

TEST(RedissonCodec, TellsKeysApart) {
  // A codec that gives two keys the same bytes would be no danger, but Java's do not.
  EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& left_units,
                           const std::vector<std::uint16_t>& right_units, std::int64_t left,
                           std::int64_t right, std::int32_t small) {
    const std::u16string left_text(left_units.begin(), left_units.end());
    const std::u16string right_text(right_units.begin(), right_units.end());
    for (const RedissonCodec codec : text_codecs) {
      RC_ASSERT((*encode(codec, left) == *encode(codec, right)) == (left == right));
      const bool is_plain = *encode(codec, small) == *encode(codec, std::int64_t{small});
      // Whether a Long and an Integer of the same value are one key is what makes codecs differ.
      RC_ASSERT(is_plain ==
                (codec == RedissonCodec::string || codec == RedissonCodec::long_integer ||
                 codec == RedissonCodec::integer || codec == RedissonCodec::typed_json_jackson));
      // StringCodec writes every lone surrogate as the same question mark.
      if (utf16_from_utf8(utf8_from_utf16(left_text)).value() == left_text &&
          utf16_from_utf8(utf8_from_utf16(right_text)).value() == right_text) {
        RC_ASSERT((*encode(codec, left_text) == *encode(codec, right_text)) ==
                  (left_text == right_text));
      }
    }
  }));
}

TEST(RedissonEncoding, GoesByTheWordsOfAUrl) {
  using Encoding = RedissonEncoding;
  EXPECT_EQ((Encoding{RedissonCodec::string, JavaType::string}), *Encoding::parse("", ""));
  EXPECT_EQ((Encoding{RedissonCodec::long_integer, JavaType::long_integer}),
            *Encoding::parse("long", ""));
  EXPECT_EQ((Encoding{RedissonCodec::integer, JavaType::integer}), *Encoding::parse("int", ""));
  EXPECT_EQ((Encoding{RedissonCodec::byte_array, JavaType::byte_array}),
            *Encoding::parse("bytes", ""));
  EXPECT_EQ((Encoding{RedissonCodec::kryo5, JavaType::string}), *Encoding::parse("kryo5", ""));
  EXPECT_EQ((Encoding{RedissonCodec::json_jackson, JavaType::long_integer}),
            *Encoding::parse("json", "long"));
  EXPECT_EQ((Encoding{RedissonCodec::marshalling, JavaType::integer}),
            *Encoding::parse("marshalling", "int"));
  for (const auto& [codec, java] : {std::pair{"fst", ""},
                                    {"json", "double"},
                                    {"kryo5", "bytes"},
                                    {"bytes", "string"},
                                    {"String", ""}}) {
    const auto encoding = Encoding::parse(codec, java);
    ASSERT_FALSE(encoding) << codec << " " << java;
    EXPECT_EQ(Errc::invalid_argument, encoding.error().code);
  }
}

TEST(RedissonEncoding, GivesOneNumberOneForm) {
  std::string buffer;
  const auto encoding = RedissonEncoding::parse("string", "long");
  for (const char* spelling : {"7", "007", "+7"}) {
    EXPECT_EQ("7", *encoding->encode(spelling, buffer));
  }
  EXPECT_EQ("0", *encoding->encode("-0", buffer));
}

TEST(RedissonEncoding, RefusesWhatJavaHasNoValueFor) {
  std::string buffer;
  struct Row {
    const char* codec;
    const char* java;
    const char* key;
  };
  for (const Row& row : {Row{"long", "", ""},
                         {"long", "", "1.0"},
                         {"long", "", " 1"},
                         {"long", "", "+-1"},
                         {"long", "", "9223372036854775808"},
                         {"int", "", "2147483648"},
                         {"int", "", "-2147483649"},
                         {"json", "int", "x"},
                         {"string", "", "a\xFF"},
                         {"kryo5", "", "a\xED\xA0\x80"}}) {
    const auto encoded = RedissonEncoding::parse(row.codec, row.java)->encode(row.key, buffer);
    ASSERT_FALSE(encoded) << row.codec << " " << row.key;
    EXPECT_EQ(Errc::invalid_argument, encoded.error().code);
  }
  EXPECT_EQ("-9223372036854775808",
            *RedissonEncoding::parse("long", "")->encode("-9223372036854775808", buffer));
  EXPECT_EQ("\xFF", *RedissonEncoding::parse("bytes", "")->encode("\xFF", buffer));
}

}  // namespace
}  // namespace guestlist
