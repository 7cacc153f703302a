#pragma once

// The tables of each instruction set, one unit each; a null pointer where this build has none.

#include "guestlist/filter/block_kernels.hpp"

namespace guestlist {

const BlockKernels* scalar_kernels(BlockLayout layout) noexcept;
const BlockKernels* avx2_kernels(BlockLayout layout) noexcept;
const BlockKernels* avx512_kernels(BlockLayout layout) noexcept;
const BlockKernels* neon_kernels(BlockLayout layout) noexcept;

}  // namespace guestlist
