#pragma once

// How a full pair of buckets takes one fingerprint more: others move to the second of their own two
// buckets. Both ways depend on nothing but the table and the fingerprint, so that a replica that
// hears the same commands ends with the same bytes. Neither changes anything where it fails.
//
// Distinct tables: safe. Tested by: CuckooChain.*

#include "core/cuckoo_layer.hpp"

namespace guestlist::server {

/// Searches breadth first for the nearest free slot and moves along the way that leads there, the
/// last first. Fills tables to 0.87 of their slots with buckets of two, to 0.97 with four.
/// Cost: a cache line each bucket searched, a few hundred at most near those loads.
bool put_by_search(CuckooLayer& layer, const CuckooHash& hash);

/// RedisBloom's walk, step for step: the victim's place in its bucket is the number of the step.
bool put_by_walk(CuckooLayer& layer, const CuckooHash& hash, std::uint32_t max_steps);

}  // namespace guestlist::server
