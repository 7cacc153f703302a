#pragma once

// The bodies for instruction sets that this machine may lack, compiled against SIMDe, which gives
// every intrinsic its meaning in portable code. One unit each; a null pointer where SIMDe is not
// installed.

#include "guestlist/filter/block_kernels.hpp"

namespace guestlist {

const BlockKernels* simulated_avx512_kernels(BlockLayout layout) noexcept;
const BlockKernels* simulated_neon_kernels(BlockLayout layout) noexcept;

}  // namespace guestlist
