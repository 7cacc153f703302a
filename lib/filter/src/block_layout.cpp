#include "guestlist/filter/block_layout.hpp"

namespace guestlist {

std::string_view name(BlockLayout layout) noexcept {
  switch (layout) {
    case BlockLayout::split_line:
      return "split-line";
    case BlockLayout::split_line_16:
      return "split-line-16";
    case BlockLayout::split_block:
      return "split-block";
  }
  return "unknown";
}

}  // namespace guestlist
