#include "guestlist/redis/shared_filter_layout.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

Secret counting_secret(int first) {
  std::array<std::byte, Secret::size> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(first + static_cast<int>(i));
  }
  return Secret(bytes);
}

GenerationParameters known_parameters() {
  GenerationParameters parameters;
  parameters.geometry = {BlockLayout::split_line, 1000, 300};
  parameters.hasher = KeyHasher::siphash(counting_secret(0));
  parameters.capacity = 30'000;
  parameters.fpr = 0.01;
  return parameters;
}

std::string hex_of(std::string_view bytes) {
  return to_hex(ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()));
}

TEST(SharedFilterLayout, IsTheOneThatAProgramInAnotherLanguageWrites) {
  const auto parameters = known_parameters();
  std::ifstream file(GUESTLIST_TEST_DATA "/shared_filter.txt");
  std::string line;
  int keys = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string kind;
    std::string bytes;
    words >> kind >> bytes;
    if (kind == "header") {
      EXPECT_EQ(hex_of(segment_header(parameters, 1'796'100'000'000, 5, 3).substr(0, 56)), bytes);
      continue;
    }
    std::uint32_t shard = 0;
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
    std::string mask;
    words >> shard >> segment >> offset >> mask;
    const auto raw = bytes == "-" ? std::vector<std::byte>{} : *from_hex(bytes);
    const std::string key(reinterpret_cast<const char*>(raw.data()), raw.size());
    const auto bits = line_bits(parameters, parameters.hasher(key));
    EXPECT_EQ(shard_of(key, counting_secret(16), 7), shard) << bytes;
    EXPECT_EQ(bits.segment, segment) << bytes;
    EXPECT_EQ(bits.offset, offset) << bytes;
    EXPECT_EQ(hex_of(bits.mask_view()), mask) << bytes;
    ++keys;
  }
  EXPECT_EQ(keys, 20);
}

TEST(SharedFilterLayout, ParametersAreReadAsTheyWereWritten) {
  const auto parameters = known_parameters();
  EXPECT_EQ(parameters.text(),
            "layout=split-line lines=1000 segment_lines=300 hash=siphash "
            "secret=000102030405060708090a0b0c0d0e0f capacity=30000 fpr=0.01 items=0 created=0");
  const auto read = GenerationParameters::parse(parameters.text());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, parameters);
}

TEST(SharedFilterLayout, KeysOfALogEntryAreReadAsTheyWereWritten) {
  const std::vector<std::string_view> keys = {"a", "", "key"};
  const auto packed = pack_keys(keys);
  EXPECT_EQ(hex_of(packed), "010000006100000000030000006b6579");
  EXPECT_EQ(*unpack_keys(packed), keys);
  for (std::size_t cut = 1; cut < packed.size(); ++cut) {
    if (cut != 5 && cut != 9) {
      EXPECT_FALSE(unpack_keys(std::string_view(packed).substr(0, cut))) << cut;
    }
  }
}

}  // namespace
}  // namespace guestlist
