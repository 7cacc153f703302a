#include "guestlist/redis/redisson_layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "guestlist/hash/highwayhash.hpp"
#include "redisson_vectors.hpp"

namespace guestlist {
namespace {

using Values = std::array<std::optional<std::string_view>, 4>;

std::vector<std::uint64_t> probes_of(std::string_view encoded, std::uint64_t size,
                                     std::size_t count) {
  RedissonProbes probes(encoded, size);
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(probes.next());
  return places;
}

TEST(RedissonLayout, PutsTheConfigBesideTheNameAsRedissonDoes) {
  EXPECT_EQ("{users}:config", redisson_config_key("users"));
  EXPECT_EQ("app:{tenant}:bf:config", redisson_config_key("app:{tenant}:bf"));
  EXPECT_EQ("a{b:config", redisson_config_key("a{b"));
  EXPECT_EQ("{a}b}:config", redisson_config_key("a}b"));
}

TEST(RedissonLayout, RefusesNamesThatAClusterTearsApart) {
  for (const char* name : {"a{b", "a}b", "{}x", "x{}y", "", "}"}) {
    const auto checked = check_redisson_cluster_name(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(Errc::invalid_argument, checked.error().code);
  }
  for (const char* name : {"users", "app:{tenant}:bf", "{users}", "a{b}c{d", "a}b{c}"}) {
    EXPECT_TRUE(check_redisson_cluster_name(name)) << name;
  }
}

TEST(RedissonParameters, AreThoseOfTryInit) {
  int stored = 0;
  int refused = 0;
  for (const Fields& line : redisson_lines("init")) {
    const std::int64_t insertions = std::stoll(line[1]);
    const auto parameters = RedissonParameters::make(insertions, std::stod(line[2]));
    if (insertions < 0) {
      // Java stores a negative size, or one of 2^63 - 1.
      EXPECT_EQ(Errc::invalid_argument, parameters.error().code);
    } else if (line[3] == "stored") {
      ASSERT_TRUE(parameters) << line[1] << " " << line[2];
      const std::array<std::string, 4> expected = {line[4], line[5], line[6], line[7]};
      EXPECT_EQ(expected, parameters->fields());
      ++stored;
    } else {
      ASSERT_FALSE(parameters) << line[1] << " " << line[2];
      std::string sentence = line[4];
      for (std::size_t word = 5; word < line.size(); ++word) sentence += " " + line[word];
      EXPECT_TRUE(parameters.error().message().starts_with(sentence))
          << parameters.error().message();
      ++refused;
    }
  }
  EXPECT_EQ(19, stored);
  EXPECT_EQ(7, refused);
}

TEST(RedissonParameters, AreThoseOfTheDerivedConfigurations) {
  for (const Fields& line : redisson_lines("derived-config")) {
    const auto parameters = RedissonParameters::make(std::stoll(line[1]), std::stod(line[2]));
    ASSERT_TRUE(parameters);
    EXPECT_EQ(std::stoull(line[3]), parameters->size);
    EXPECT_EQ(std::stoul(line[4]), parameters->hash_iterations);
  }
}

TEST(RedissonParameters, TakeAProbabilityOfZeroForTheSmallestThereIs) {
  const auto parameters = RedissonParameters::make(1000, 0);
  ASSERT_TRUE(parameters);
  EXPECT_EQ(1'549'454u, parameters->size);
  EXPECT_EQ(RedissonParameters::max_hash_iterations, parameters->hash_iterations);
  EXPECT_EQ("0.0", parameters->fields()[3]);
}

TEST(RedissonParameters, RefuseAProbabilityAboveOne) {
  EXPECT_TRUE(RedissonParameters::make(1000, 1.5).error().message().starts_with(
      "Bloom filter false probability can't be greater than 1"));
}

TEST(RedissonParameters, ComeBackFromTheFieldsAsTheyWere) {
  EXPECT_TRUE(rc::check([] {
    const auto insertions = *rc::gen::inRange<std::int64_t>(1, 10'000'000);
    const double fpr = 1.0 / *rc::gen::inRange(2, 1'000'000'000);
    const auto made = RedissonParameters::make(insertions, fpr);
    RC_ASSERT(made.has_value());
    const auto texts = made->fields();
    const auto parsed = RedissonParameters::parse(Values{texts[0], texts[1], texts[2], texts[3]});
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == *made);
  }));
}

TEST(RedissonParameters, AcceptEverySpellingOfTheProbability) {
  for (const char* text : {"0.0001", "1.0E-4", "0.00010", "1e-4"}) {
    const auto parsed = RedissonParameters::parse(Values{"729", "5", "100", text});
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(1e-4, parsed->false_probability);
  }
}

TEST(RedissonParameters, TellAMissingFilterFromADamagedOne) {
  EXPECT_EQ(Errc::not_found, RedissonParameters::parse(Values{}).error().code);
  const auto damaged = RedissonParameters::parse(Values{"729", "5", std::nullopt, "0.03"});
  EXPECT_EQ(Errc::corrupt, damaged.error().code);
  EXPECT_NE(std::string::npos, damaged.error().message().find("expectedInsertions"));
}

TEST(RedissonParameters, RefuseWhatRedissonDoesNotWrite) {
  const Values good = {"729", "5", "100", "0.03"};
  ASSERT_TRUE(RedissonParameters::parse(good));
  for (const char* text : {"", "0", "-47", "+5", "05", "5 ", " 5", "5.0", "0x5", "x",
                           "99999999999999999999", "9223372036854775808"}) {
    for (const std::size_t field : {0U, 1U, 2U}) {
      Values bad = good;
      bad[field] = text;
      const auto parsed = RedissonParameters::parse(bad);
      ASSERT_FALSE(parsed) << RedissonParameters::field_names[field] << " " << text;
      EXPECT_EQ(Errc::corrupt, parsed.error().code);
    }
  }
  EXPECT_FALSE(RedissonParameters::parse(Values{"4294967295", "5", "100", "0.03"}));
  EXPECT_TRUE(RedissonParameters::parse(Values{"4294967294", "1074", "100", "0.03"}));
  EXPECT_FALSE(RedissonParameters::parse(Values{"729", "1075", "100", "0.03"}));
  for (const char* text : {"", "NaN", "-0.1", "1.1", "x", "0.03 ", "Infinity"}) {
    Values bad = good;
    bad[3] = text;
    EXPECT_FALSE(RedissonParameters::parse(bad)) << text;
  }
}

TEST(RedissonParameters, HaveNoCountWhereEveryBitIsSet) {
  const RedissonParameters one_bit{1, 1, 1, 0.5};
  EXPECT_EQ(0u, one_bit.count(0));
  EXPECT_FALSE(one_bit.count(1));
  EXPECT_FALSE(one_bit.count(2));
}

TEST(RedissonProbes, AreThePlacesThatRedissonSets) {
  for (const Fields& line : redisson_lines("key")) {
    const std::string encoded = bytes_of_hex(line[4]);
    const Hash128 hash = highwayhash_128(encoded, redisson_highway_key);
    EXPECT_EQ(std::stoull(line[5], nullptr, 16), hash.first) << line[3];
    EXPECT_EQ(std::stoull(line[6], nullptr, 16), hash.second) << line[3];
    EXPECT_EQ(numbers_of(line[7]), probes_of(encoded, 9'585'058, 7)) << line[3];
    EXPECT_EQ(numbers_of(line[8]), probes_of(encoded, 47'925, 7)) << line[3];
    EXPECT_EQ(numbers_of(line[9]), probes_of(encoded, 729, 5)) << line[3];
  }
}

TEST(RedissonProbes, AreThePlacesInEveryDerivedConfiguration) {
  const auto configs = redisson_lines("derived-config");
  for (const Fields& line : redisson_lines("derived-key")) {
    for (std::size_t config = 0; config < configs.size(); ++config) {
      EXPECT_EQ(numbers_of(line[7 + config]),
                probes_of(bytes_of_hex(line[4]), std::stoull(configs[config][3]),
                          std::stoul(configs[config][4])));
    }
  }
}

TEST(RedissonProbes, StayBelowTheSize) {
  EXPECT_TRUE(rc::check([](const std::string& encoded) {
    const auto size = *rc::gen::inRange<std::uint64_t>(1, RedissonParameters::max_size + 1);
    for (const std::uint64_t place : probes_of(encoded, size, 20)) RC_ASSERT(place < size);
  }));
}

/// What a captured `bitmap` line and the lines behind it say.
struct CapturedBitmap {
  RedissonEncoding encoding;
  RedissonParameters parameters;
  std::uint64_t bits_set = 0;
  std::uint64_t count = 0;
  std::string bytes;
  std::vector<std::pair<std::string, bool>> added;
  std::vector<std::pair<std::string, bool>> probed;
};

std::vector<CapturedBitmap> captured_bitmaps() {
  std::vector<CapturedBitmap> bitmaps;
  for (const Fields& line : lines_of("redisson.txt")) {
    if (line[0] == "bitmap") {
      bitmaps.push_back({*RedissonEncoding::parse(line[1], ""),
                         *RedissonParameters::make(std::stoll(line[2]), std::stod(line[3])),
                         std::stoull(line[6]),
                         std::stoull(line[7]),
                         bytes_of_hex(line[8]),
                         {},
                         {}});
      EXPECT_EQ(std::stoull(line[4]), bitmaps.back().parameters.size);
    }
    if (line[0] == "added") bitmaps.back().added.emplace_back(line[1], line[2] == "1");
    if (line[0] == "probe") bitmaps.back().probed.emplace_back(line[1], line[2] == "1");
  }
  EXPECT_EQ(6u, bitmaps.size());
  return bitmaps;
}

TEST(RedissonBitmap, AnswersAsRedissonDoesFromItsBits) {
  std::string buffer;
  for (const CapturedBitmap& captured : captured_bitmaps()) {
    const auto bitmap = RedissonBitmap::make(captured.parameters, as_bytes(captured.bytes));
    ASSERT_TRUE(bitmap);
    EXPECT_EQ(captured.bits_set, bitmap->bits().count());
    EXPECT_EQ(captured.count, bitmap->count());
    EXPECT_EQ(50u, captured.added.size());
    for (const auto& [key, added] : captured.added) {
      EXPECT_TRUE(bitmap->may_contain(*captured.encoding.encode(key, buffer))) << key;
    }
    EXPECT_EQ(40u, captured.probed.size());
    for (const auto& [key, contained] : captured.probed) {
      EXPECT_EQ(contained, bitmap->may_contain(*captured.encoding.encode(key, buffer))) << key;
    }
  }
}

TEST(RedissonBitmap, IsTheStringThatRedissonWrites) {
  std::string buffer;
  for (const CapturedBitmap& captured : captured_bitmaps()) {
    std::string bytes;
    for (const auto& [key, was_new] : captured.added) {
      RedissonProbes probes(*captured.encoding.encode(key, buffer), captured.parameters.size);
      bool changed = false;
      for (std::uint32_t i = 0; i < captured.parameters.hash_iterations; ++i) {
        const std::uint64_t place = probes.next();
        changed |= !RedisBitmap(as_bytes(bytes)).test(place);
        if (bytes.size() <= redis_byte_of_bit(place)) bytes.resize(redis_byte_of_bit(place) + 1);
        char& byte = bytes[redis_byte_of_bit(place)];
        byte = static_cast<char>(byte | std::to_integer<int>(redis_mask_of_bit(place)));
      }
      EXPECT_EQ(was_new, changed) << key;
    }
    EXPECT_EQ(to_hex(as_bytes(captured.bytes)), to_hex(as_bytes(bytes)));
  }
}

TEST(RedissonBitmap, RefusesTheBitsOfALargerFilter) {
  const RedissonParameters parameters{9, 1, 1, 0.01};
  const std::string last_bit("\x00\x80", 2);
  const std::string behind_it("\x00\x40", 2);
  const std::string only_zeros(100, '\0');
  EXPECT_TRUE(RedissonBitmap::make(parameters, as_bytes(last_bit)));
  EXPECT_TRUE(RedissonBitmap::make(parameters, as_bytes(only_zeros)));
  const auto foreign = RedissonBitmap::make(parameters, as_bytes(behind_it));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(Errc::mismatched, foreign.error().code);
}

}  // namespace
}  // namespace guestlist
