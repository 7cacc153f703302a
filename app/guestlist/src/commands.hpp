#pragma once

// The calls of the command, one file each.

#include "call.hpp"

namespace guestlist {

void add_plan(CallTable& calls);
void add_build(CallTable& calls);
void add_create(CallTable& calls);
void add_add(CallTable& calls);
void add_load(CallTable& calls);
void add_query(CallTable& calls);
void add_dedup(CallTable& calls);
void add_inspect(CallTable& calls);
void add_merge(CallTable& calls);
void add_drop(CallTable& calls);
void add_serve(CallTable& calls);
void add_check(CallTable& calls);
void add_doctor(CallTable& calls);
void add_explain(CallTable& calls);
void add_status(CallTable& calls);

}  // namespace guestlist
