// Our filters as a program compiled for this machine sees them: single calls are inlined.

#include "integer_filter_adapter.hpp"

namespace guestlist::bench {
namespace {

const bool registered =
    register_filter<IntegerFilterAdapter<BlockLayout::split_line>>("guestlist") &&
    register_filter<IntegerFilterAdapter<BlockLayout::split_block>>("guestlist-split-block") &&
    register_filter<IntegerFilterAdapter<BlockLayout::split_line, SplitLine>>("guestlist-fixed") &&
    register_filter<IntegerFilterAdapter<BlockLayout::split_block, SplitBlock>>(
        "guestlist-fixed-split-block");

}  // namespace
}  // namespace guestlist::bench
