#pragma once

// Why a request would pass or be rejected: for people. Counts nothing.
//
// Threads: pure functions.

#include <boost/json/object.hpp>

#include "guestlist/gate/gate.hpp"

namespace guestlist {

boost::json::object to_json(const GateFinding& finding);

/// Requires: the routes' filters are of this process.
GateFinding explain_question(const RouteTable& routes, const GateQuestion& question);

}  // namespace guestlist
