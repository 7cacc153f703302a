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

/// KEYS state of the first shard. ARGV token, lease in ms, shards, shard secret, key type. Keeps
/// other builders away while the further shards are made ready for a filter that is not there yet.
/// Returns {1}; {0, milliseconds left} while another builder holds its lease; {2} where there is a
/// filter.
const RedisScript& claim_script();

/// KEYS state, log. ARGV token, lease in ms, and for a shard that is not there: incarnation,
/// shards, shard secret, key type; number of the shard. Returns {1, generation to build, log,
/// generation that answers or 0, generation that was left unfinished or 0, the state's server, the
/// state's incomplete}; {0, milliseconds left} while another builder holds its lease; {-1} where
/// the filter was made anew meanwhile. Said twice with one token, it is one begin.
const RedisScript& begin_script();

// From here on `token` is the builder's token, a space, and the generation it builds: what of a
// builder arrives late can only concern the build it was sent for.

/// KEYS state. ARGV token, lease in ms. Returns {1}, or {0} for a builder that was fenced off.
const RedisScript& renew_script();

/// KEYS state, segment. ARGV token, then offset and bytes of each piece; the first of a segment has
/// offset 0. Nothing is written once adds go to both generations.
/// Returns {1}; {0}; {-1, key} for a segment that has vanished.
const RedisScript& upload_script();

/// KEYS state, segments. ARGV token, parameters, one length a segment, one header a segment. From
/// here on adds go to both. Returns {1, log}; {0} for a builder that was fenced off; {-1, key} for
/// a segment that is not whole.
const RedisScript& sync_script();

/// KEYS state, segments. ARGV token, one length a segment, then lines as for add.
/// Returns {1}; {0}; {-1, key}.
const RedisScript& replay_script();

/// KEYS state, segments. ARGV token, replication id at the beginning, source position, one length a
/// segment. The new generation answers from here on.
/// Returns {1}; {0}; {-1, key}; {-2} on another server than at the beginning.
const RedisScript& finish_script();

/// KEYS state. ARGV token; of a claim, the token alone. Returns {1}, or {0}.
const RedisScript& abandon_script();

/// KEYS state. ARGV why. Returns 1, or 0 where there is no filter.
const RedisScript& distrust_script();

}  // namespace guestlist::redis
