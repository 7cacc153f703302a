#include "guestlist/filter/filter_shape.hpp"

namespace guestlist {

std::string_view name(Structure structure) noexcept {
  switch (structure) {
    case Structure::bloom:
      return "bloom";
    case Structure::classic_bloom:
      return "classic-bloom";
    case Structure::counting_bloom:
      return "counting-bloom";
    case Structure::scalable_bloom:
      return "scalable-bloom";
    case Structure::cuckoo:
      return "cuckoo";
  }
  return "unknown";
}

}  // namespace guestlist
