#pragma once

#include <span>

#include "command.hpp"

namespace guestlist::server {

/// A chunk replaces what is in its place: an item that came in between would be lost.
inline constexpr const char* still_arriving =
    "ERR the filter is still being loaded: send its chunks in order to the last, or delete the key";

std::span<const CommandSpec> cuckoo_commands();

int cuckoo_add(Context* context, String** argv, int argc);
int cuckoo_add_new(Context* context, String** argv, int argc);
int cuckoo_insert(Context* context, String** argv, int argc);
int cuckoo_insert_new(Context* context, String** argv, int argc);
int cuckoo_scan_dump(Context* context, String** argv, int argc);
int cuckoo_load_chunk(Context* context, String** argv, int argc);

}  // namespace guestlist::server
