#pragma once

#include <span>

#include "command.hpp"

namespace guestlist::server {

std::span<const CommandSpec> cuckoo_commands();

int cuckoo_add(Context* context, String** argv, int argc);
int cuckoo_add_new(Context* context, String** argv, int argc);
int cuckoo_insert(Context* context, String** argv, int argc);
int cuckoo_insert_new(Context* context, String** argv, int argc);
int cuckoo_scan_dump(Context* context, String** argv, int argc);
int cuckoo_load_chunk(Context* context, String** argv, int argc);

}  // namespace guestlist::server
