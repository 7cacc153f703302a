#include "batch.hpp"
#include "block_body_scalar.hpp"
#include "isa_kernels.hpp"

namespace guestlist {
namespace {

struct Scalar {
  template <class Layout>
  using OneKey = BlockBodyScalar<Layout>;

  template <class Layout>
  [[gnu::always_inline]] static void place(const std::uint64_t* hashes, std::uint64_t blocks,
                                           KeyGroup<Layout>& group) noexcept {
    place_one_by_one(hashes, blocks, group);
  }
};

constexpr BlockKernels split_line = kernels_of<SplitLine, Scalar>();
constexpr BlockKernels split_line_16 = kernels_of<SplitLine16, Scalar>();
constexpr BlockKernels split_block = kernels_of<SplitBlock, Scalar>();

}  // namespace

const BlockKernels* scalar_kernels(BlockLayout layout) noexcept {
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
