#include "isa_kernels.hpp"

const guestlist::BlockKernels* guestlist::avx512_kernels(BlockLayout) noexcept {
  return nullptr;
}
