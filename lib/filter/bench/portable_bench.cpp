// Our filter as a program compiled for any x86-64 or Arm machine sees it: single calls go through
// one indirect call. Batches are the same, so their rows tell how far two equal rows of a run may
// differ.

#include "integer_filter_adapter.hpp"

namespace guestlist::bench {
namespace {

const bool registered =
    register_filter<IntegerFilterAdapter<BlockLayout::split_line>>("guestlist-portable");

}  // namespace
}  // namespace guestlist::bench
