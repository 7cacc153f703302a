#pragma once

// What INFO tells of the module, under the names that monitoring of Bloom filters on Valkey knows.

#include "server_api.hpp"

namespace guestlist::server {

void tell_metrics(InfoContext* out, int for_crash_report);

}  // namespace guestlist::server
