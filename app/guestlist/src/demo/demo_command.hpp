#pragma once

#include "call.hpp"

namespace guestlist {

/// `demo`: the main job on real input, in minutes, with a table at the end.
void add_demo(CallTable& calls);

}  // namespace guestlist
