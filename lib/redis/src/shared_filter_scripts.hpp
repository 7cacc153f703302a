#pragma once

// What must happen in one step on the server. Each script names every key it touches; all keys are
// of one shard, so of one slot. docs/formats/shared-filter.md says what they do in words.

#include "guestlist/redis/redis_pipeline.hpp"

namespace guestlist::redis {

/// KEYS state, log, segments. ARGV epoch, log entries kept, packed keys ("" logs nothing), number
/// of lines that count as added, one length a segment, then for each line: index into KEYS, offset,
/// mask. Returns {1, lines that changed, log id}; {0, epoch} for another epoch; {-1, key} for a
/// segment that is missing or has another length. Changes nothing in the latter two cases.
const RedisScript& add_script();

/// KEYS state. ARGV token, lease in ms, and for a filter that is not there: incarnation, shards,
/// shard secret, key type.
/// Returns {1, generation to build, log, milliseconds of the server's clock, abandoned generation
/// or 0, generation that answers}; {0, milliseconds left} while another builder holds its lease.
const RedisScript& begin_script();

/// KEYS state. ARGV token, lease in ms. Returns 1, or 0 for a builder that was fenced off.
const RedisScript& renew_script();

/// KEYS state, segments. ARGV token, parameters, one length a segment. From here on adds go to
/// both. Returns {1, log}; {0} for a builder that was fenced off; {-1, key} for a segment that is
/// not whole.
const RedisScript& sync_script();

/// KEYS state, segments. ARGV token, one length a segment, then lines as for add.
/// Returns {1}; {0}; {-1, key}.
const RedisScript& replay_script();

/// KEYS state, segments. ARGV token, replication id at the beginning, source position, one length a
/// segment. The new generation answers from here on.
/// Returns {1, former generation}; {0}; {-1, key}; {-2} on another server than at the beginning.
const RedisScript& finish_script();

/// KEYS state. ARGV token. Returns {1, generation that was being built}, or {0}.
const RedisScript& abandon_script();

/// KEYS state. ARGV why. Returns 1, or 0 where there is no filter.
const RedisScript& distrust_script();

}  // namespace guestlist::redis
