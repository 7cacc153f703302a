#pragma once

#include "command.hpp"

namespace guestlist::server {

int bloom_add(Context* context, String** argv, int argc);
int bloom_add_many(Context* context, String** argv, int argc);
int bloom_insert(Context* context, String** argv, int argc);

}  // namespace guestlist::server
