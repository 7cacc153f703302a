// Compiled for AVX-512, see CMakeLists.txt; runs only where is_supported(Isa::avx512) said so.

#include "isa_kernels.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)

#include <immintrin.h>

#include "batch.hpp"
#include "batch_avx512.hpp"

namespace guestlist {

const BlockKernels* avx512_kernels(BlockLayout layout) noexcept {
  return tables_of<Avx512>(layout);
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::avx512_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
