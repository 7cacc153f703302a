#include "guestlist/filter/filter_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "filter_file_format.hpp"
#include "filter_samples.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/filter/filter_file_writer.hpp"
#include "temporary_folder.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t section = filter_file::section_bytes;

/// The bytes of a file in memory that a test may damage.
class Image {
 public:
  explicit Image(const std::string& path) {
    const std::string content = read_file(path, 1 << 30).value();
    storage_ = Storage::allocate(content.size()).value();
    std::memcpy(storage_.mutable_data(), content.data(), content.size());
  }
  std::byte& operator[](std::size_t at) { return storage_.mutable_data()[at]; }
  std::size_t size() const { return storage_.size_bytes(); }
  Result<FilterFile> open() const {
    return FilterFile::from_bytes(storage_.bytes(), nullptr, "image");
  }

 private:
  Storage storage_;
};

class EveryFilterFile : public testing::TestWithParam<Structure> {
 protected:
  Image image_of(const AnyFilter& filter) {
    const std::string path = folder_ / "a.filter";
    const auto written = write_filter_file(path, filter, FilterFileInfo());
    if (!written) ADD_FAILURE() << written.error().message();
    return Image(path);
  }

  TemporaryFolder folder_;
};

TEST_P(EveryFilterFile, AnswersAsTheFilterThatWasWritten) {
  for (const std::uint64_t items : {1, 100, 200'000}) {
    const AnyFilter filter = sample_filter(GetParam(), items);
    const std::string path = folder_ / "a.filter";
    FilterFileInfo info;
    info.generation = 42;
    info.key_type = "uuid";
    info.position = "0/16B3748";
    info.origin = "a test";
    ASSERT_TRUE(write_filter_file(path, filter, info));
    const auto file = FilterFile::open(path);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(info, file->header().info);
    EXPECT_EQ(filter.shape(), file->header().shape);
    const auto hashes = sample_hashes(0, items + 10'000, filter.hasher());
    std::vector<Verdict> verdicts(hashes.size());
    file->check_many(hashes, verdicts);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const Verdict expected = filter.may_contain(hashes[i]) ? Verdict::maybe() : Verdict::absent();
      ASSERT_EQ(expected, verdicts[i]) << sample_key(i);
      ASSERT_EQ(expected, file->check(sample_key(i))) << sample_key(i);
    }
  }
}

TEST_P(EveryFilterFile, LoadsAFilterThatCanGrowAndBeWrittenAgain) {
  const AnyFilter filter = sample_filter(GetParam(), 1000);
  const std::string path = folder_ / "a.filter";
  ASSERT_TRUE(write_filter_file(path, filter, FilterFileInfo()));
  {
    const auto file = FilterFile::open(path);
    ASSERT_TRUE(file);
    auto loaded = file->load();
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(filter.shape(), loaded->shape());
    ASSERT_TRUE(loaded->insert("one more"));
    ASSERT_TRUE(write_filter_file(path, *loaded, file->header().info));
    EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
  }
  const auto file = FilterFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(Verdict::maybe(), file->check("one more"));
  EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
}

TEST_P(EveryFilterFile, GivesNoVerdictFromAFileWithAnyByteFlipped) {
  Image image = image_of(sample_filter(GetParam(), 100));
  for (std::size_t at = 0; at < image.size(); ++at) {
    image[at] ^= std::byte{0x10};
    if (const auto file = image.open()) {
      ASSERT_GE(at, file->header().body_offset) << "byte " << at;
      ASSERT_EQ(Verdict::unknown(Reason::corrupt), file->check(sample_key(at))) << "byte " << at;
      ASSERT_FALSE(file->verify_all());
      ASSERT_FALSE(file->verified());
      ASSERT_FALSE(file->load());
    }
    image[at] ^= std::byte{0x10};
  }
  const auto file = image.open();
  ASSERT_TRUE(file && file->verify_all());
  EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
}

TEST_P(EveryFilterFile, NeverCallsAPresentKeyAbsentWhereSectionsAreLost) {
  const AnyFilter filter = large_filter(GetParam());
  Image image = image_of(filter);
  const std::uint64_t body = image.open().value().header().body_offset;
  const std::uint64_t sections = filter_file::section_count(image.size() - body);
  ASSERT_GE(sections, 3U);
  for (const std::uint64_t lost : {std::uint64_t{1}, sections - 1}) {
    const std::uint64_t begin = body + lost * section;
    const std::uint64_t end = std::min<std::uint64_t>(begin + section, image.size());
    for (std::uint64_t at = begin; at < end; ++at) image[at] = ~image[at];
  }
  const auto file = image.open();
  ASSERT_TRUE(file) << file.error().message();
  const auto hashes = sample_hashes(0, 20'000, filter.hasher());
  std::vector<Verdict> verdicts(hashes.size());
  file->check_many(hashes, verdicts);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_NE(Answer::absent, verdicts[i].answer) << sample_key(i);
    ASSERT_EQ(verdicts[i], file->check(hashes[i]));
    unknown += verdicts[i] == Verdict::unknown(Reason::corrupt) ? 1 : 0;
  }
  EXPECT_GT(unknown, 0U);
  const auto verified = file->verify_all();
  ASSERT_FALSE(verified);
  EXPECT_NE(std::string::npos, verified.error().message().find("2 of its"))
      << verified.error().message();
}

INSTANTIATE_TEST_SUITE_P(Structures, EveryFilterFile, testing::ValuesIn(all_structures),
                         [](const auto& instance) {
                           std::string text(name(instance.param));
                           std::erase(text, '-');
                           return text;
                         });

class FilterFileTest : public testing::Test {
 protected:
  /// A file whose checksums hold and whose one layer says something else than was written.
  template <class Change>
  Result<FilterFile> open_with(Structure structure, Change change) {
    const AnyFilter filter = sample_filter(structure, 1000);
    FilterFileHeader header;
    header.shape = filter.shape();
    change(header.shape.layers[0]);
    header.secret = Secret();
    header.secret_fingerprint = Secret().fingerprint();
    filter_file::place_body(header);
    const ByteView body = filter.layer_bytes()[0];
    std::array<std::byte, filter_file::checksum_bytes> table;
    store_little_endian(table.data(), filter_file::checksum(body));
    auto bytes = filter_file::encode_header(header, filter_file::checksum(table));
    bytes.insert(bytes.end(), table.begin(), table.end());
    bytes.resize(header.body_offset);
    bytes.insert(bytes.end(), body.begin(), body.end());
    EXPECT_TRUE(write_file(path_, bytes));
    return FilterFile::open(path_);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.filter";
};

TEST_F(FilterFileTest, AnswersFromIntactSectionsBesideADamagedOne) {
  const AnyFilter filter = large_filter(Structure::bloom);
  ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo()));
  Image image(path_);
  image[image.size() - 1] ^= std::byte{1};
  const auto file = image.open();
  ASSERT_TRUE(file);
  std::size_t maybe = 0;
  std::size_t unknown = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Verdict verdict = file->check(sample_key(i));
    maybe += verdict == Verdict::maybe() ? 1 : 0;
    unknown += verdict == Verdict::unknown(Reason::corrupt) ? 1 : 0;
  }
  EXPECT_EQ(1000U, maybe + unknown);
  EXPECT_GT(maybe, 0U);
  EXPECT_GT(unknown, 0U);
}

TEST_F(FilterFileTest, VerifiesTheSectionsOfEveryLayer) {
  constexpr std::uint64_t items = 1'100'000;
  AnyFilter filter =
      empty_filter(Structure::scalable_bloom, 1'000'000, KeyHasher::siphash(Secret()));
  const auto hashes = sample_hashes(0, items, filter.hasher());
  ASSERT_TRUE(filter.insert_many(hashes));
  ASSERT_EQ(2U, filter.shape().layers.size());
  ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo()));
  Image image(path_);
  for (std::size_t at = image.size() - section; at < image.size(); ++at) image[at] = std::byte{0};
  const auto file = image.open();
  ASSERT_TRUE(file) << file.error().message();
  std::vector<Verdict> verdicts(hashes.size());
  file->check_many(hashes, verdicts);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    ASSERT_NE(Answer::absent, verdicts[i].answer) << sample_key(i);
  }
}

TEST_F(FilterFileTest, KeepsLayersOnLinesAlsoWhereTheirSizesAreNone) {
  FilterShape shape{Structure::scalable_bloom, 20, 0.01, {}};
  std::vector<Storage> layers;
  for (const std::uint64_t blocks : {3, 5}) {
    shape.layers.push_back({static_cast<std::uint32_t>(BlockLayout::split_block), 0, blocks, 0, 10,
                            0.001, 0, blocks * 32});
    layers.push_back(Storage::allocate(blocks * 32).value());
  }
  AnyFilter filter =
      AnyFilter::restore(shape, KeyHasher::siphash(Secret()), std::move(layers)).value();
  for (std::uint64_t i = 0; i < 10; ++i) (void)filter.insert(sample_key(i)).value();
  ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo()));
  const auto file = FilterFile::open(path_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(128U + 160U, file->header().body_size);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(Verdict::maybe(), file->check(sample_key(i)));
}

TEST_F(FilterFileTest, RefusesEveryTruncatedLength) {
  ASSERT_TRUE(write_filter_file(path_, sample_filter(Structure::bloom, 100), FilterFileInfo()));
  const auto whole = MappedFile::open(path_);
  ASSERT_TRUE(whole);
  for (std::size_t size = 1; size < whole->bytes().size(); ++size) {
    const auto file = FilterFile::from_bytes(whole->bytes().first(size), nullptr, path_);
    ASSERT_FALSE(file) << size << " bytes";
    ASSERT_EQ(Errc::truncated, file.error().code) << size << " bytes";
  }
}

TEST_F(FilterFileTest, RefusesRandomBytes) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> words(4096);
  for (int round = 0; round < 20; ++round) {
    std::ranges::generate(words, random);
    ASSERT_TRUE(write_file(path_, std::as_bytes(std::span(words))));
    const auto file = FilterFile::open(path_);
    ASSERT_FALSE(file);
    EXPECT_EQ(Errc::foreign_format, file.error().code);
    EXPECT_NE(std::string::npos, file.error().message().find(path_));
  }
}

TEST_F(FilterFileTest, RefusesAShapeThatDoesNotFitItsBits) {
  const auto file = open_with(Structure::bloom, [](LayerShape& layer) { layer.units += 1; });
  ASSERT_FALSE(file);
  EXPECT_EQ(Errc::corrupt, file.error().code);
  EXPECT_NE(std::string::npos, file.error().message().find(path_)) << file.error().message();
}

TEST_F(FilterFileTest, RefusesParametersThatItsStructureHasNoUseFor) {
  EXPECT_TRUE(open_with(Structure::classic_bloom, [](LayerShape&) {}));
  const auto file =
      open_with(Structure::classic_bloom, [](LayerShape& layer) { layer.layout = 3; });
  ASSERT_FALSE(file);
  EXPECT_EQ(Errc::corrupt, file.error().code);
}

TEST_F(FilterFileTest, OpensByTheRightSecretOnlyWhereTheFileHoldsItsFingerprint) {
  const Secret secret = Secret::random();
  const Secret other = Secret::random();
  for (const KeyHasher& hasher : {KeyHasher::siphash(secret), KeyHasher::xxh3(secret)}) {
    const AnyFilter filter = sample_filter(Structure::bloom, 1000, hasher);
    ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo(), SecretPlacement::elsewhere));
    const std::string content = read_file(path_, 1 << 20).value();
    EXPECT_EQ(std::string::npos, content.find(as_text(secret.bytes())));
    for (const auto& given : {std::optional<Secret>(), std::optional(other)}) {
      const auto file = FilterFile::open(path_, given);
      ASSERT_FALSE(file);
      EXPECT_EQ(Errc::mismatched, file.error().code);
      EXPECT_NE(std::string::npos, file.error().message().find("--secret-file"));
    }
    const auto file = FilterFile::open(path_, secret);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(hasher, file->hasher());
    EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
  }
}

TEST_F(FilterFileTest, RefusesAnotherSecretThanTheOneItHolds) {
  const AnyFilter filter =
      sample_filter(Structure::bloom, 10, KeyHasher::siphash(Secret::random()));
  ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo()));
  EXPECT_TRUE(FilterFile::open(path_));
  EXPECT_TRUE(FilterFile::open(path_, filter.hasher().secret()));
  const auto refused = FilterFile::open(path_, Secret::random());
  ASSERT_FALSE(refused);
  EXPECT_EQ(Errc::mismatched, refused.error().code);
}

TEST_F(FilterFileTest, NeedsNoSecretForAnUnkeyedHash) {
  ASSERT_TRUE(write_filter_file(path_, sample_filter(Structure::bloom, 10, KeyHasher::xxh64()),
                                FilterFileInfo(), SecretPlacement::elsewhere));
  const auto file = FilterFile::open(path_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
}

TEST_F(FilterFileTest, AnswersManyThreadsThatTouchTheSameSectionsFirst) {
  const AnyFilter filter = large_filter(Structure::bloom);
  ASSERT_TRUE(write_filter_file(path_, filter, FilterFileInfo()));
  const auto file = FilterFile::open(path_);
  ASSERT_TRUE(file);
  const auto hashes = sample_hashes(0, 2000, filter.hasher());
  std::atomic<std::size_t> present = 0;
  {
    std::array<std::jthread, 4> threads;
    for (std::jthread& thread : threads) {
      thread = std::jthread([&, is_first = &thread == threads.data()] {
        if (is_first) (void)file->verify_all().has_value();
        std::vector<Verdict> verdicts(hashes.size());
        file->check_many(hashes, verdicts);
        for (const KeyHash hash : hashes) verdicts.push_back(file->check(hash));
        present += static_cast<std::size_t>(std::ranges::count(verdicts, Verdict::maybe()));
      });
    }
  }
  EXPECT_EQ(4 * 2 * hashes.size(), present);
}

TEST_F(FilterFileTest, TellsTheProgressOfAVerification) {
  ASSERT_TRUE(write_filter_file(path_, large_filter(Structure::bloom), FilterFileInfo()));
  const auto file = FilterFile::open(path_);
  ASSERT_TRUE(file);
  std::uint64_t last = 0;
  ASSERT_TRUE(file->verify_all([&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(file->header().body_size, total);
    last = done;
  }));
  EXPECT_EQ(file->header().body_size, last);
}

}  // namespace
}  // namespace guestlist
