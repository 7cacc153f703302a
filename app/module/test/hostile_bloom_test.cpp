// Snapshots and dumps that are wrong somewhere: none ends the process, none takes memory that its
// length does not justify, and of the native layout none passes.

#include "hostile_bloom.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

namespace guestlist::server {
namespace {

BloomValue filled(bool is_native, bool is_scaling) {
  ChainPlan plan;
  plan.fpr = 0.01;
  plan.capacity = 20;
  plan.is_scaling = is_scaling;
  plan.options = classic_options_new | (is_scaling ? 0 : classic_option_fixed);
  const auto fill = [](auto chain) {
    for (int i = 0; i < 50; ++i) chain.add("item:" + std::to_string(i), {});
    return BloomValue(std::move(chain));
  };
  if (is_native)
    return fill(NativeChain::make(plan, KeyHasher::siphash(Secret::random()), {}).value());
  return fill(ClassicChain::make(plan, ClassicHasher(), {}).value());
}

struct Allocations {
  static inline std::uint64_t live = 0;
  static inline std::uint64_t peak = 0;

  static void watch() {
    BitMemory::use({[](std::size_t bytes) {
                      void* const memory = std::calloc(1, bytes);
                      live += ::malloc_usable_size(memory);
                      peak = std::max(peak, live);
                      return memory;
                    },
                    [](void* memory) {
                      live -= ::malloc_usable_size(memory);
                      std::free(memory);
                    },
                    [](void* memory) { return ::malloc_usable_size(memory); }});
  }
};

class HostileBloom : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  void SetUp() override { Allocations::watch(); }
  bool is_native() const { return std::get<0>(GetParam()); }
  int encoding() const { return is_native() ? own_bloom_encoding : classic_bloom_encoding; }
  std::string snapshot() const { return snapshot_of(filled(is_native(), std::get<1>(GetParam()))); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, HostileBloom, testing::Combine(testing::Bool(), testing::Bool()));

TEST_P(HostileBloom, SnapshotIsReadAsItWasWritten) {
  const std::string written = snapshot();
  const auto value = from_snapshot(as_bytes(written), is_native(), encoding());
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(snapshot_of(*value), written);
  const auto items = value->visit([](const auto& chain) { return chain.items(); });
  for (std::uint64_t i = 0; i < items; ++i) {
    EXPECT_TRUE(value->visit(
        [&](const auto& chain) { return chain.may_contain("item:" + std::to_string(i)); }));
  }
}

TEST_P(HostileBloom, EveryShortSnapshotIsRefused) {
  const std::string written = snapshot();
  for (std::size_t size = 0; size < written.size(); ++size) {
    EXPECT_FALSE(from_snapshot(as_bytes(written).first(size), is_native(), encoding())) << size;
  }
}

TEST_P(HostileBloom, EveryFlippedBitIsRefusedOrHarmless) {
  std::string written = snapshot();
  for (std::size_t bit = 0; bit < written.size() * 8; ++bit) {
    written[bit / 8] = static_cast<char>(written[bit / 8] ^ (1 << (bit % 8)));
    auto value = from_snapshot(as_bytes(written), is_native(), encoding());
    if (is_native()) {
      EXPECT_FALSE(value.has_value()) << "bit " << bit;
    }
    if (value) use_filter(*std::move(value));
    written[bit / 8] = static_cast<char>(written[bit / 8] ^ (1 << (bit % 8)));
  }
}

TEST_P(HostileBloom, RandomChangesDoNoHarmAndTakeNoMemory) {
  const std::string snapshot_bytes = snapshot();
  const BloomValue value = filled(is_native(), std::get<1>(GetParam()));
  const std::string header = bloom_header(value);
  std::string dump(2, '\0');
  dump[0] = static_cast<char>(header.size() & 0xff);
  dump[1] = static_cast<char>(header.size() >> 8);
  dump += header;
  const std::uint64_t before = Allocations::live;
  std::mt19937_64 random(20261207);
  for (int round = 0; round < 20000; ++round) {
    const bool as_dump = random() % 2 == 0;
    std::string bytes = as_dump ? dump : snapshot_bytes;
    const int changes = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % bytes.size();
      const std::size_t width = std::min<std::size_t>(bytes.size() - at, 1 + random() % 8);
      const std::uint64_t extreme[] = {0, ~0ULL, random(), 1ULL << random() % 64};
      std::memcpy(bytes.data() + at, &extreme[random() % 4], width);
    }
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    const unsigned kind = as_dump ? 3 : is_native() ? 1 + static_cast<unsigned>(random() % 2) : 0;
    const unsigned version = is_native() || as_dump ? 1 : static_cast<unsigned>(random() % 6);
    bytes.insert(bytes.begin(), static_cast<char>(kind + 4 * version));
    Allocations::peak = Allocations::live;
    try_as_bloom(as_bytes(bytes));
    ASSERT_EQ(Allocations::live, before) << "round " << round;
    // A dump's header may ask for what the limit allows; it is made three times while it is used.
    const std::uint64_t allowed = as_dump ? std::uint64_t{4} << 20 : bytes.size() * 4 + (256 << 10);
    ASSERT_LE(Allocations::peak - before, allowed) << "round " << round;
  }
}

TEST_P(HostileBloom, AHeaderOfHugeLayersIsRefusedBeforeAnythingIsTaken) {
  ChainPlan plan;
  plan.capacity = std::uint64_t{1} << 40;
  const NativeLayerShape shape = NativeLayer::plan(plan.capacity, 0.01);
  Allocations::peak = Allocations::live;
  const NativeChain chain(
      plan, KeyHasher::siphash(Secret::random()),
      [&] {
        std::vector<NativeLayer> layers;
        NativeLayerShape small = shape;
        small.blocks = 1;
        layers.push_back(NativeLayer::make(small).value());
        return layers;
      }(),
      0);
  std::string header = native_header(chain);
  // The number of blocks stands behind the layout of the first layer.
  std::memcpy(header.data() + header.size() - 8 - 32, &shape.blocks, 8);
  const std::uint64_t sum = XXH3_64bits(header.data(), header.size() - 8);
  std::memcpy(header.data() + header.size() - 8, &sum, 8);
  ASSERT_TRUE(parse_native_header(as_bytes(header)).has_value());
  const std::uint64_t before = Allocations::peak;
  const auto refused = bloom_from_header(as_bytes(header), small_limit());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::too_large);
  EXPECT_LE(Allocations::peak, before + 4096);
}

}  // namespace
}  // namespace guestlist::server
