#include "isa_kernels.hpp"

#if defined(__aarch64__) && defined(__ARM_NEON)

#include <arm_neon.h>

#include "batch.hpp"
#include "batch_neon.hpp"

namespace guestlist {

const BlockKernels* neon_kernels(BlockLayout layout) noexcept {
  return tables_of<Neon>(layout);
}

}  // namespace guestlist

#else

const guestlist::BlockKernels* guestlist::neon_kernels(BlockLayout) noexcept {
  return nullptr;
}

#endif
