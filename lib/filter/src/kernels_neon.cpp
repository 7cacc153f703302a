#include "isa_kernels.hpp"

const guestlist::BlockKernels* guestlist::neon_kernels(BlockLayout) noexcept {
  return nullptr;
}
