#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "guestlist/filter/guava_bloom_filter.hpp"
#include "guestlist/filter/guava_funnel.hpp"
#include "guestlist/hash/murmur3.hpp"

namespace guestlist {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> vectors() {
  std::vector<Fields> lines;
  std::ifstream file(GUESTLIST_TEST_DATA "/guava.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
  }
  EXPECT_EQ(5304u, lines.size());
  return lines;
}

std::string from_hex_text(const std::string& hex) {
  if (hex == "-") return "";
  return std::string(as_text(*from_hex(hex)));
}

std::string funnelled(const std::string& funnel_name, const std::string& key) {
  const GuavaFunnel kind = *guava_funnel_from_name(funnel_name);
  std::string buffer;
  switch (kind) {
    case GuavaFunnel::bytes:
      return from_hex_text(key);
    case GuavaFunnel::integer:
    case GuavaFunnel::long_integer:
      return std::string(*funnel(kind, key, buffer));
    default:
      break;
  }
  const std::string bytes = from_hex_text(key);
  std::u16string units;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    units += static_cast<char16_t>(load_big_endian<std::uint16_t>(bytes.data() + at));
  }
  return funnel_utf16(kind, units);
}

std::string stream_of(const GuavaBloomFilter& filter) {
  return to_hex(filter.header()) + to_hex(filter.words());
}

GuavaBloomFilter filter_of(const std::string& hex) {
  const auto bytes = from_hex(hex);
  auto filter = GuavaBloomFilter::read(*bytes);
  EXPECT_TRUE(filter) << filter.error().message();
  return std::move(*filter);
}

TEST(GuavaFunnel, GivesTheBytesThatGuavaHashes) {
  int checked = 0;
  for (const Fields& line : vectors()) {
    if (line[0] != "hash") continue;
    const Hash128 hash = murmur3_x64_128(funnelled(line[1], line[2]));
    std::array<std::byte, 16> digest;
    store_little_endian(digest.data(), hash.first);
    store_little_endian(digest.data() + 8, hash.second);
    EXPECT_EQ(line[3], to_hex(digest)) << line[1] << " " << line[2];
    ++checked;
  }
  EXPECT_EQ(74, checked);
}

TEST(GuavaFunnel, TakesTextAsUtf8AndRefusesWhatJavaCannotHold) {
  std::string buffer;
  EXPECT_EQ("Tom\xE5\x93\xA5", *funnel(GuavaFunnel::string, "Tom\xE5\x93\xA5", buffer));
  EXPECT_EQ(std::string("\x3D\xD8\x00\xDE", 4),
            *funnel(GuavaFunnel::unencoded_chars, "\xF0\x9F\x98\x80", buffer));
  for (const char* bad : {"\xFF", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xE5\x93", "a\x80"}) {
    EXPECT_FALSE(funnel(GuavaFunnel::string, bad, buffer)) << bad;
  }
  EXPECT_EQ("\xFF", *funnel(GuavaFunnel::bytes, "\xFF", buffer));
}

TEST(GuavaFunnel, RefusesNumbersOutOfRange) {
  std::string buffer;
  EXPECT_EQ(std::string("\xFE\xFF\xFF\xFF", 4), *funnel(GuavaFunnel::integer, "-2", buffer));
  EXPECT_TRUE(funnel(GuavaFunnel::integer, "2147483647", buffer));
  EXPECT_TRUE(funnel(GuavaFunnel::long_integer, "-9223372036854775808", buffer));
  for (const char* bad : {"2147483648", "", "1.0", " 1", "x", "+-1"}) {
    EXPECT_FALSE(funnel(GuavaFunnel::integer, bad, buffer)) << bad;
  }
  EXPECT_FALSE(funnel(GuavaFunnel::long_integer, "9223372036854775808", buffer));
}

TEST(GuavaBloomFilter, HasTheSizeThatGuavaComputes) {
  for (const Fields& line : vectors()) {
    if (line[0] != "size") continue;
    const auto items = std::stoull(line[1]);
    const double fpr = std::stod(line[2]);
    const auto size = guava_size(items, fpr);
    // Guava computes such a size too, and then cannot create the filter.
    if (std::stoull(line[3]) / 64 > 2'147'483'647) {
      EXPECT_EQ(Errc::too_large, size.error().code);
      continue;
    }
    ASSERT_TRUE(size) << line[1] << " " << line[2] << ": " << size.error().message();
    EXPECT_EQ(std::stoull(line[3]), size->bits) << line[1] << " " << line[2];
    EXPECT_EQ(std::stoul(line[4]), size->probes) << line[1] << " " << line[2];
    EXPECT_EQ(std::stoul(line[5]), guava_size(items, fpr, GuavaSizing::by_fpr)->probes);
  }
}

TEST(GuavaBloomFilter, WritesTheStreamsThatGuavaWrites) {
  std::optional<GuavaBloomFilter> filter;
  std::string funnel_name;
  std::string expected;
  int streams = 0;
  const auto check = [&] {
    if (!filter) return;
    EXPECT_EQ(expected, stream_of(*filter));
    ++streams;
  };
  for (const Fields& line : vectors()) {
    if (line[0] == "filter") {
      check();
      funnel_name = line[1];
      expected = line[10];
      auto made = GuavaBloomFilter::make(std::stoull(line[2]), std::stod(line[3]),
                                         static_cast<GuavaStrategy>(std::stoi(line[4])));
      ASSERT_TRUE(made);
      filter.emplace(std::move(*made));
    }
    if (line[0] == "put") {
      EXPECT_EQ(line[2] == "1", filter->insert(funnelled(funnel_name, line[1])));
    }
  }
  check();
  EXPECT_EQ(53, streams);
}

TEST(GuavaBloomFilter, AnswersAsGuavaDoesFromItsStreams) {
  std::optional<GuavaBloomFilter> filter;
  std::string funnel_name;
  for (const Fields& line : vectors()) {
    if (line[0] == "filter") {
      funnel_name = line[1];
      filter.emplace(filter_of(line[10]));
      EXPECT_EQ(std::stoul(line[5]), filter->size().probes);
      EXPECT_EQ(std::stoull(line[6]), filter->size().bits);
      EXPECT_EQ(std::stoull(line[7]), filter->bits_set());
      EXPECT_EQ(std::stoull(line[8]), filter->approximate_count());
      EXPECT_DOUBLE_EQ(std::stod(line[9]), filter->fpr_now());
      EXPECT_EQ(line[10], stream_of(*filter));
    }
    if (line[0] == "probe") {
      EXPECT_EQ(line[2] == "1", filter->may_contain(funnelled(funnel_name, line[1]))) << line[1];
    }
  }
}

TEST(GuavaBloomFilter, AcceptsAndRefusesTheStreamsThatGuavaDoes) {
  for (const Fields& line : vectors()) {
    if (line[0] != "read") continue;
    const std::string bytes = from_hex_text(line[1]);
    EXPECT_EQ(line[2] == "ok", GuavaBloomFilter::read(as_bytes(bytes)).has_value()) << line[1];
  }
}

TEST(GuavaBloomFilter, BelievesALengthOnlyAsFarAsTheStreamReaches) {
  const auto stream = from_hex("01077fffffff");
  const auto filter = GuavaBloomFilter::read(*stream);
  ASSERT_FALSE(filter);
  EXPECT_EQ(Errc::truncated, filter.error().code);
}

TEST(GuavaBloomFilter, MergesAsPutAllDoes) {
  for (const Fields& line : vectors()) {
    if (line[0] != "merge") continue;
    GuavaBloomFilter filter = filter_of(line[1]);
    ASSERT_TRUE(filter.merge(filter_of(line[2])));
    EXPECT_EQ(line[3], stream_of(filter));
    EXPECT_EQ(std::stoull(line[4]), filter.approximate_count());
  }
}

TEST(GuavaBloomFilter, RefusesToMergeUnlikeFiltersAndStaysAsItWas) {
  auto filter = GuavaBloomFilter::make(100, 0.01);
  filter->insert("a");
  const std::string before = stream_of(*filter);
  EXPECT_EQ(Errc::mismatched, filter->merge(*GuavaBloomFilter::make(500, 0.01)).error().code);
  EXPECT_EQ(Errc::mismatched, filter->merge(*GuavaBloomFilter::make(100, 0.001)).error().code);
  EXPECT_EQ(Errc::mismatched,
            filter->merge(*GuavaBloomFilter::make(100, 0.01, GuavaStrategy::mitz_32)).error().code);
  EXPECT_EQ(before, stream_of(*filter));
  EXPECT_TRUE(filter->merge(*GuavaBloomFilter::make(99, 0.01)));
}

TEST(GuavaBloomFilter, AgreesOnAMillionKeys) {
  for (const Fields& line : vectors()) {
    if (line[0] != "big") continue;
    auto filter = GuavaBloomFilter::make(
        1'000'000, 0.01, line[1] == "32" ? GuavaStrategy::mitz_32 : GuavaStrategy::mitz_64);
    std::array<char, 8> key;
    const auto funnelled_long = [&key](std::uint64_t value) {
      store_little_endian(key.data(), value);
      return std::string_view(key.data(), key.size());
    };
    for (std::uint64_t i = 0; i < 1'000'000; ++i) filter->insert(funnelled_long(i));
    std::uint64_t false_positives = 0;
    for (std::uint64_t i = 1'000'000; i < 2'000'000; ++i)
      false_positives += filter->may_contain(funnelled_long(i));
    EXPECT_EQ(std::stoull(line[4]), filter->bits_set());
    EXPECT_EQ(std::stoull(line[5]), filter->approximate_count());
    EXPECT_EQ(std::stoull(line[6]), false_positives);
  }
}

TEST(GuavaBloomFilter, RefusesWhatGuavaRefusesToCreate) {
  EXPECT_FALSE(GuavaBloomFilter::make(10, 0));
  EXPECT_FALSE(GuavaBloomFilter::make(10, 1));
  EXPECT_FALSE(GuavaBloomFilter::make(10, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(GuavaBloomFilter::make(10, 1e-80));
  EXPECT_FALSE(GuavaBloomFilter::make(1, 0.99));
  EXPECT_EQ(Errc::too_large, GuavaBloomFilter::make(20'000'000'000, 1e-4).error().code);
  EXPECT_EQ(Errc::too_large, GuavaBloomFilter::make(~std::uint64_t{0}, 0.01).error().code);
  EXPECT_TRUE(GuavaBloomFilter::make(0, 0.01));
  EXPECT_TRUE(GuavaBloomFilter::make(10, 1e-70));
  EXPECT_EQ(Errc::invalid_argument,
            GuavaBloomFilter::make(300'000'000, 0.01, GuavaStrategy::mitz_32).error().code);
}

TEST(GuavaBloomFilter, HasNoCountWhenEveryBitIsSet) {
  const GuavaBloomFilter filter = filter_of("010300000001ffffffffffffffff");
  EXPECT_FALSE(filter.approximate_count());
  EXPECT_EQ(1, filter.fpr_now());
}

}  // namespace
}  // namespace guestlist
