#pragma once

// What became of an item that was to be added to a filter.

#include <cstdint>

namespace guestlist::server {

enum class Added : std::uint8_t {
  added,
  seen,               ///< was there, or seemed to be
  full,               ///< new, and the filter may not grow
  no_memory,          ///< new, and there is no memory for the next layer
  over_object_limit,  ///< new, and the next layer would make the filter larger than allowed
  too_many_layers,    ///< new, and the filter has as many layers as it may have
};

}  // namespace guestlist::server
