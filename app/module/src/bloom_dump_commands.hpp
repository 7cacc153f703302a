#pragma once

#include "command.hpp"

namespace guestlist::server {

int bloom_scan_dump(Context* context, String** argv, int argc);
int bloom_load_chunk(Context* context, String** argv, int argc);

}  // namespace guestlist::server
