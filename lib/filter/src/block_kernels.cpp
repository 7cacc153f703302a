#include "guestlist/filter/block_kernels.hpp"

#include <cassert>

#include "isa_kernels.hpp"

namespace guestlist {
namespace {

const BlockKernels* find_kernels(Isa isa, BlockLayout layout) noexcept {
  switch (isa) {
    case Isa::scalar:
      break;
    case Isa::avx2:
      return avx2_kernels(layout);
    case Isa::avx512:
      return avx512_kernels(layout);
    case Isa::neon:
      return neon_kernels(layout);
  }
  return scalar_kernels(layout);
}

bool machine_has([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2");
  if (isa == Isa::avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
  }
#endif
  // NEON is part of every 64-bit Arm machine; the build has its bodies only there.
  return true;
}

Isa find_best_isa() noexcept {
  if (races_are_watched) return Isa::scalar;
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::neon}) {
    if (is_supported(isa)) return isa;
  }
  return Isa::scalar;
}

}  // namespace

std::string_view name(Isa isa) noexcept {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::neon:
      return "neon";
  }
  return "unknown";
}

bool is_supported(Isa isa) noexcept {
  return find_kernels(isa, BlockLayout::split_line) != nullptr && machine_has(isa);
}

Isa best_isa() noexcept {
  static const Isa best = find_best_isa();
  return best;
}

const BlockKernels& block_kernels(Isa isa, BlockLayout layout) noexcept {
  assert(is_supported(isa));
  return *find_kernels(isa, layout);
}

}  // namespace guestlist
