#include "guestlist/hash/murmur3.hpp"

#include <murmurhash.h>

#include <cassert>
#include <limits>

namespace guestlist {

Hash128 murmur3_x64_128(std::string_view bytes) noexcept {
  assert(bytes.size() <= std::numeric_limits<unsigned>::max());
  std::uint64_t halves[2];
  lmmh_x64_128(bytes.data(), static_cast<unsigned>(bytes.size()), 0, halves);
  return {halves[0], halves[1]};
}

}  // namespace guestlist
