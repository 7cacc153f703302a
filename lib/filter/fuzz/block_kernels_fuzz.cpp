// All bodies of the blocked filter that this machine runs, against the scalar one, on any hashes
// and size.

#include <cstdlib>
#include <memory>
#include <vector>

#include "guestlist/base/bytes.hpp"
#include "guestlist/filter/block_kernels.hpp"
#include "guestlist/filter/storage.hpp"

namespace guestlist {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void compare(BlockLayout layout, std::uint64_t blocks, const std::vector<std::uint64_t>& hashes) {
  const BlockKernels& scalar = block_kernels(Isa::scalar, layout);
  const std::size_t half = hashes.size() / 2;
  Storage expected = Storage::allocate(blocks * block_bytes(layout)).value();
  auto* const expected_words = reinterpret_cast<std::uint64_t*>(expected.mutable_data());
  std::size_t expected_changes = 0;
  for (std::size_t key = 0; key < half; ++key) {
    expected_changes += scalar.insert(expected_words, blocks, hashes[key]) ? 1 : 0;
  }
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::neon}) {
    if (!is_supported(isa)) continue;
    const BlockKernels& kernels = block_kernels(isa, layout);
    Storage bits = Storage::allocate(blocks * block_bytes(layout)).value();
    auto* const words = reinterpret_cast<std::uint64_t*>(bits.mutable_data());
    require(kernels.insert_many(words, blocks, hashes.data(), half) == expected_changes);
    require(as_text(bits.bytes()) == as_text(expected.bytes()));
    const auto found = std::make_unique<bool[]>(hashes.size());
    kernels.may_contain_many(words, blocks, hashes.data(), hashes.size(), found.get());
    for (std::size_t key = 0; key < hashes.size(); ++key) {
      require(found[key] || key >= half);
      require(found[key] == scalar.may_contain(expected_words, blocks, hashes[key]));
      require(found[key] == kernels.may_contain(words, blocks, hashes[key]));
    }
  }
}

}  // namespace
}  // namespace guestlist

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guestlist;
  if (size < 2) return 0;
  std::vector<std::uint64_t> hashes((size - 2) / 8);
  for (std::size_t key = 0; key < hashes.size(); ++key) {
    hashes[key] = load_little_endian<std::uint64_t>(data + 2 + key * 8);
  }
  compare(static_cast<BlockLayout>(1 + data[0] % 3), 1 + data[1], hashes);
  return 0;
}
