// Compiled with -mavx2, see CMakeLists.txt; runs only where is_supported(Isa::avx2) said so.

#include "isa_kernels.hpp"

#ifdef __AVX2__

#include "batch.hpp"
#include "batch_avx2.hpp"
#include "guestlist/filter/block_body_avx2.hpp"

namespace guestlist {
namespace {

struct Avx2 {
  template <class Layout>
  using OneKey = BlockBodyAvx2<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    avx2::place(hashes, blocks, group);
  }
};

constexpr BlockKernels split_line = kernels_of<SplitLine, Avx2>();
constexpr BlockKernels split_line_16 = kernels_of<SplitLine16, Avx2>();
constexpr BlockKernels split_block = kernels_of<SplitBlock, Avx2>();

}  // namespace

const BlockKernels* avx2_kernels(BlockLayout layout) noexcept {
  switch (layout) {
    case BlockLayout::split_line:
      break;
    case BlockLayout::split_line_16:
      return &split_line_16;
    case BlockLayout::split_block:
      return &split_block;
  }
  return &split_line;
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::avx2_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
