#include "simulated_kernels.hpp"

#if __has_include(<simde/arm/neon.h>) && !defined(__ARM_NEON)

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

#include "batch.hpp"
#include "batch_neon.hpp"

namespace guestlist {

const BlockKernels* simulated_neon_kernels(BlockLayout layout) noexcept {
  return tables_of<Neon>(layout);
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::simulated_neon_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
