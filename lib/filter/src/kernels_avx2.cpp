// Compiled with -mavx2, see CMakeLists.txt; runs only where is_supported(Isa::avx2) said so.

#include "isa_kernels.hpp"

#ifdef __AVX2__

#include "batch.hpp"
#include "batch_avx2.hpp"

namespace guestlist {

const BlockKernels* avx2_kernels(BlockLayout layout) noexcept {
  return tables_of<Avx2>(layout);
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::avx2_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
