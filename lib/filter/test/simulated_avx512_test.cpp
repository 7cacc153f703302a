// Compiled with -mavx2 on x86-64, see CMakeLists.txt: the AVX2 half of the bodies is the machine's
// own.

#include "simulated_kernels.hpp"

#if __has_include(<simde/x86/avx512.h>) && defined(__AVX2__) && !defined(__AVX512F__)

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include "batch.hpp"
#include "batch_avx512.hpp"

namespace guestlist {

const BlockKernels* simulated_avx512_kernels(BlockLayout layout) noexcept {
  return is_supported(Isa::avx2) ? tables_of<Avx512>(layout) : nullptr;
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::simulated_avx512_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
