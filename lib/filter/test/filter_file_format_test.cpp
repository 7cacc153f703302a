#include "filter_file_format.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "printable_text.hpp"

namespace guestlist::filter_file {
namespace {

FilterFileHeader small_header() {
  FilterFileHeader header;
  header.shape.capacity = 10;
  header.shape.fpr = 0.01;
  header.shape.layers = {LayerShape{1, 0, 2, 0, 10, 0.01, 7, 128},
                         LayerShape{1, 0, 1, 0, 20, 0.008, 3, 40}};
  header.secret = Secret();
  header.secret_fingerprint = Secret().fingerprint();
  header.info.generation = 3;
  header.info.key_type = "int";
  header.info.position = "0/16B3748";
  header.info.origin = "products.csv, Spalte №1";
  header.info.created_at = std::chrono::sys_seconds(std::chrono::seconds(-1));
  place_body(header);
  return header;
}

/// A file of that header, its layers filled with a pattern.
std::vector<std::byte> file_of(const FilterFileHeader& header) {
  const std::vector<std::byte> body(header.body_size, std::byte{0x5a});
  std::vector<std::byte> table(section_count(header.body_size) * checksum_bytes);
  store_little_endian(table.data(), checksum(body));
  auto file = encode_header(header, checksum(table));
  file.insert(file.end(), table.begin(), table.end());
  file.resize(header.body_offset);
  file.insert(file.end(), body.begin(), body.end());
  return file;
}

std::vector<std::byte> small_file() {
  return file_of(small_header());
}

Errc refusal(ByteView file) {
  const auto header = decode_header(file, "some.filter");
  if (header) return Errc{};
  EXPECT_NE(std::string::npos, header.error().message().find("'some.filter'"));
  return static_cast<Errc>(header.error().code.value());
}

/// The small file with something of its header changed and its checksum made right again.
std::vector<std::byte> sealed_with(const std::function<void(std::byte*)>& change) {
  auto file = small_file();
  const auto size = load_little_endian<std::uint32_t>(&file[12]);
  change(file.data());
  store_little_endian(&file[size - checksum_bytes],
                      checksum(ByteView(file).first(size - checksum_bytes)));
  return file;
}

template <class T>
std::vector<std::byte> sealed_with_number(std::size_t offset, T value) {
  return sealed_with([&](std::byte* file) { store_little_endian(file + offset, value); });
}

TEST(FilterFileFormat, ReadsTheHeaderThatItWrote) {
  const auto header = decode_header(small_file(), "some.filter");
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(small_header(), *header);
  EXPECT_EQ(10U, header->items());
  EXPECT_EQ(4096U, header->body_offset);
  EXPECT_EQ(128U + 40U, header->body_size);
}

TEST(FilterFileFormat, ReadsTheLargestHeaderThatItCanWrite) {
  auto header = small_header();
  header.shape.layers.assign(max_layers, header.shape.layers.front());
  header.info.key_type.assign(FilterFileInfo::max_key_type_bytes, 'k');
  header.info.position.assign(FilterFileInfo::max_position_bytes, 'p');
  header.info.origin.assign(FilterFileInfo::max_origin_bytes, 'o');
  header.secret.reset();
  place_body(header);
  const auto read = decode_header(file_of(header), "some.filter");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(header, *read);
}

TEST(FilterFileFormat, StartsEveryLayerOnALine) {
  auto header = small_header();
  header.shape.layers.push_back(header.shape.layers.front());
  EXPECT_EQ((std::vector<std::uint64_t>{0, 128, 192, 320}), layer_offsets(header.shape));
}

TEST(FilterFileFormat, RefusesEveryFlippedBitBeforeTheBody) {
  auto file = small_file();
  for (std::size_t at = 0; at < small_header().body_offset; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      file[at] ^= std::byte{1} << bit;
      EXPECT_NE(Errc{}, refusal(file)) << "byte " << at << ", bit " << bit;
      file[at] ^= std::byte{1} << bit;
    }
  }
}

TEST(FilterFileFormat, RefusesEveryOtherLength) {
  const auto file = small_file();
  EXPECT_EQ(Errc::foreign_format, refusal({}));
  for (std::size_t size = 1; size < file.size(); ++size) {
    EXPECT_EQ(Errc::truncated, refusal(ByteView(file).first(size))) << size << " bytes";
  }
  auto longer = file;
  longer.push_back(std::byte{0});
  EXPECT_EQ(Errc::corrupt, refusal(longer));
}

TEST(FilterFileFormat, RefusesWhatALaterVersionWrites) {
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint32_t>(8, 2)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint32_t>(40, 4096)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint16_t>(44, 6)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint8_t>(46, 9)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint8_t>(47, 3)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint32_t>(fixed_bytes + 12, 1)));
  EXPECT_EQ(Errc::newer_version, refusal(sealed_with_number<std::uint64_t>(fixed_bytes + 56, 1)));
  auto larger_header = small_file();
  store_little_endian<std::uint32_t>(&larger_header[8], 2);
  store_little_endian<std::uint32_t>(&larger_header[12], max_header_bytes + 1);
  EXPECT_EQ(Errc::newer_version, refusal(larger_header));
}

TEST(FilterFileFormat, RefusesASealedHeaderThatContradictsItself) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Errc{}, refusal(sealed_with([](std::byte*) {})));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint32_t>(8, 0)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(16, 8192)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(16, huge)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(24, huge)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(32, 0)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint8_t>(56, 1)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(80, bits(not_a_number))));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(80, bits(1.0))));
  for (const std::size_t length : {104, 106, 108, 110}) {
    EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint16_t>(length, 0)));
    EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint16_t>(length, 0xffff)));
  }
  EXPECT_EQ(Errc::corrupt,
            refusal(sealed_with_number<std::uint64_t>(fixed_bytes + 32, bits(-0.5))));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(fixed_bytes + 48, 0)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(fixed_bytes + 48, huge)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint64_t>(fixed_bytes + 48, 1024)));
  const std::size_t texts = fixed_bytes + 2 * layer_bytes;
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint8_t>(texts, 0x1b)));
  EXPECT_EQ(Errc::corrupt, refusal(sealed_with_number<std::uint8_t>(texts, 0xff)));
}

TEST(FilterFileFormat, SaysWhatAForeignFileLooksLike) {
  const auto message = [](std::string_view content) {
    return decode_header(as_bytes(content), "some.filter").error().message();
  };
  using namespace std::literals;
  EXPECT_NE(std::string::npos, message("\x1f\x8b\x08 and so on").find("gzip"));
  EXPECT_NE(std::string::npos, message("\0\x05\0\0\0\x01"
                                       "12345678"sv)
                                   .find("--format guava"));
  EXPECT_EQ("'some.filter' is no guestlist filter file", message("a,b,c\n1,2,3\n"));
  EXPECT_EQ(Errc::foreign_format, refusal(as_bytes("GLFILTEX")));
}

TEST(FilterFileFormat, NeverCountsMoreSectionsThanFit) {
  EXPECT_EQ(0U, section_count(0));
  EXPECT_EQ(1U, section_count(1));
  EXPECT_EQ(1U, section_count(section_bytes));
  EXPECT_EQ(2U, section_count(section_bytes + 1));
  EXPECT_EQ(std::uint64_t{1} << 44, section_count(std::numeric_limits<std::uint64_t>::max()));
}

TEST(PrintableText, IsWellFormedUtf8WithoutControls) {
  using namespace std::literals;
  for (const auto text : {""sv, "products.csv"sv, "Größe"sv, "\u20ac \U0001f600"sv}) {
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_EQ(text, to_printable(text, 100));
  }
  for (const auto text :
       {"\0"sv, "a\nb"sv, "\x7f"sv, "\xc2\x9b"sv, "\xff"sv, "\xe2\x82"sv, "\xc0\xaf"sv,
        "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\x80"sv, "\xe0\x80\x80"sv}) {
    EXPECT_FALSE(is_printable(text)) << to_hex(as_bytes(text));
    EXPECT_TRUE(is_printable(to_printable(text, 100)));
  }
}

TEST(PrintableText, IsCutBetweenCharacters) {
  EXPECT_EQ("\u20ac", to_printable("\u20ac\u20ac", 5));
  EXPECT_EQ("a?c", to_printable("a\nc", 3));
  EXPECT_EQ("", to_printable("abc", 0));
}

}  // namespace
}  // namespace guestlist::filter_file
