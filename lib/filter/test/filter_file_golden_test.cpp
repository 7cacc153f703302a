// Files of version 1, written once and kept. A change of the format, of a structure's bits or of a
// hash would make files that people have answer wrongly: it must fail here, and calls for a new
// version.

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "filter_samples.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/filter/filter_file.hpp"
#include "guestlist/filter/filter_file_writer.hpp"
#include "temporary_folder.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t golden_items = 100;

Secret golden_secret() {
  std::array<std::byte, Secret::size> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return Secret(bytes);
}

FilterFileInfo golden_info() {
  FilterFileInfo info;
  info.generation = 7;
  info.key_type = "text";
  info.position = "0/16B3748";
  info.origin = "golden data, 100 keys";
  info.created_at = std::chrono::sys_seconds(std::chrono::seconds(1'700'000'000));
  return info;
}

struct GoldenFile {
  const char* name;
  AnyFilter (*make)();
  SecretPlacement placement;
};

template <BlockLayout layout>
AnyFilter with_layout(const KeyHasher& hasher) {
  AnyFilter filter =
      BloomFilter::make(FilterPlan::make(golden_items, 0.01, layout).value(), hasher).value();
  for (std::uint64_t i = 0; i < golden_items; ++i) (void)filter.insert(sample_key(i)).value();
  return filter;
}

/// Of several layers.
AnyFilter scalable() {
  AnyFilter filter =
      ScalableBloomFilter::make(20, 0.01, KeyHasher::siphash(golden_secret())).value();
  for (std::uint64_t i = 0; i < golden_items; ++i) (void)filter.insert(sample_key(i)).value();
  return filter;
}

template <Structure structure>
AnyFilter of_structure() {
  return sample_filter(structure, golden_items, KeyHasher::siphash(golden_secret()));
}

/// Of a size that today's planning gives no more; the files that have it stay as they are.
template <Structure structure>
AnyFilter of_earlier_size() {
  FilterShape shape = empty_filter(structure, golden_items, KeyHasher::xxh64()).shape();
  LayerShape& layer = shape.layers.front();
  layer.units = 960;
  layer.size_bytes = structure == Structure::classic_bloom ? 128 : 512;
  std::vector<Storage> layers;
  layers.push_back(Storage::allocate(layer.size_bytes).value());
  const KeyHasher hasher = KeyHasher::siphash(golden_secret());
  AnyFilter filter = AnyFilter::restore(shape, hasher, std::move(layers)).value();
  for (std::uint64_t i = 0; i < golden_items; ++i) (void)filter.insert(sample_key(i)).value();
  return filter;
}

const GoldenFile golden_files[] = {
    {"bloom", of_structure<Structure::bloom>, SecretPlacement::in_file},
    {"bloom-secret-elsewhere", of_structure<Structure::bloom>, SecretPlacement::elsewhere},
    {"bloom-split-line-16-xxh3",
     [] { return with_layout<BlockLayout::split_line_16>(KeyHasher::xxh3(golden_secret())); },
     SecretPlacement::in_file},
    {"bloom-split-block-xxh64",
     [] { return with_layout<BlockLayout::split_block>(KeyHasher::xxh64()); },
     SecretPlacement::in_file},
    {"classic-bloom", of_earlier_size<Structure::classic_bloom>, SecretPlacement::in_file},
    {"counting-bloom", of_earlier_size<Structure::counting_bloom>, SecretPlacement::in_file},
    {"scalable-bloom", scalable, SecretPlacement::in_file},
    {"cuckoo", of_structure<Structure::cuckoo>, SecretPlacement::in_file},
};

class GoldenFilterFile : public testing::TestWithParam<GoldenFile> {
 protected:
  std::string golden_path() const {
    return std::string(GUESTLIST_TEST_DATA "/filter_file/") + GetParam().name + ".v1";
  }
};

TEST_P(GoldenFilterFile, StillAnswersForItsKeys) {
  const auto file = FilterFile::open(golden_path(), golden_secret());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(golden_info(), file->header().info);
  for (std::uint64_t i = 0; i < golden_items; ++i) {
    ASSERT_EQ(Verdict::maybe(), file->check(sample_key(i))) << sample_key(i);
  }
  std::size_t absent = 0;
  for (std::uint64_t i = golden_items; i < 10 * golden_items; ++i) {
    absent += file->check(sample_key(i)).is_absent() ? 1 : 0;
  }
  EXPECT_GT(absent, 8 * golden_items);
}

TEST_P(GoldenFilterFile, IsWrittenByteForByteAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder / "now";
  ASSERT_TRUE(write_filter_file(path, GetParam().make(), golden_info(), GetParam().placement));
  EXPECT_TRUE(read_file(golden_path(), 1 << 20).value() == read_file(path, 1 << 20).value());
}

INSTANTIATE_TEST_SUITE_P(Version1, GoldenFilterFile, testing::ValuesIn(golden_files),
                         [](const auto& instance) {
                           std::string text = instance.param.name;
                           std::erase(text, '-');
                           return text;
                         });

}  // namespace
}  // namespace guestlist
