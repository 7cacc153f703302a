#include "batch.hpp"
#include "block_body_scalar.hpp"
#include "isa_kernels.hpp"

namespace guestlist {

const BlockKernels* scalar_kernels(BlockLayout layout) noexcept {
  return tables_of<Scalar>(layout);
}

}  // namespace guestlist
