#include "shared_filter_scripts.hpp"

#include <string>

namespace guestlist::redis {
namespace {

// A script can name no other script, so what several need stands in front of each.

// The number is for people. A server that lost writes counts from an older one and comes to the
// same numbers again, with other parameters behind them; the last part is what tells them apart.
constexpr std::string_view next_epoch = R"lua(
local function next_epoch(epoch)
  local incarnation, number = string.match(epoch, '^(%x+)-(%d+)')
  local time = redis.call('TIME')
  local unique = redis.sha1hex(table.concat({epoch, time[1], time[2], ARGV[1]}, ' '))
  return incarnation .. '-' .. string.format('%d', number + 1) .. '-' .. string.sub(unique, 1, 16)
end
)lua";

constexpr std::string_view clock = R"lua(
local function integer(number)
  return string.format('%d', number)
end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
)lua";

constexpr std::string_view whole_segments = R"lua(
local function broken_segment(first_key, first_length)
  for i = first_key, #KEYS do
    if redis.call('STRLEN', KEYS[i]) ~= tonumber(ARGV[first_length + i - first_key]) then
      return KEYS[i]
    end
  end
end
)lua";

// A segment that was evicted while it was written has zeros where its header was.
constexpr std::string_view headed_segments = R"lua(
local function headless_segment(first_key, first_header)
  for i = first_key, #KEYS do
    if redis.call('GETRANGE', KEYS[i], 0, 63) ~= ARGV[first_header + i - first_key] then
      return KEYS[i]
    end
  end
end
)lua";

// A line is read, joined with the mask and written only where that changed something: fewer
// commands than one a bit.
constexpr std::string_view set_lines = R"lua(
local call, bor, unpack_words, pack_words = redis.call, bit.bor, struct.unpack, struct.pack
local words = '<i4i4i4i4i4i4i4i4i4i4i4i4i4i4i4i4'
local function set_lines(first, counted)
  local changed = 0
  for i = first, #ARGV, 3 do
    local key, offset, mask = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
    local line = call('GETRANGE', key, offset, offset + 63)
    local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16 =
        unpack_words(words, line)
    local b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16 =
        unpack_words(words, mask)
    local joined = pack_words(words,
        bor(a1, b1), bor(a2, b2), bor(a3, b3), bor(a4, b4), bor(a5, b5), bor(a6, b6), bor(a7, b7),
        bor(a8, b8), bor(a9, b9), bor(a10, b10), bor(a11, b11), bor(a12, b12), bor(a13, b13),
        bor(a14, b14), bor(a15, b15), bor(a16, b16))
    if joined ~= line then
      call('SETRANGE', key, offset, joined)
      if (i - first) / 3 < counted then
        changed = changed + 1
      end
    end
  end
  return changed
end
)lua";

constexpr std::string_view add_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'epoch', 'log', 'building')
if state[1] ~= ARGV[1] then
  return {0, state[1] or ''}
end
local broken = broken_segment(3, 5)
if broken then
  return {-1, broken}
end
local log = state[2] or '0-0'
local changed = set_lines(5 + #KEYS - 2, tonumber(ARGV[4]))
if ARGV[3] ~= '' then
  -- A builder still reads from further back.
  local kept = tonumber(ARGV[2]) * ((tonumber(state[3] or 0) > 0) and 16 or 1)
  local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', kept, '*', 'p', log, 'k', ARGV[3])
  if id == log then
    -- The log was removed within this millisecond, and the same number was given a second time.
    id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', kept, '*', 'p', log, 'k', ARGV[3])
  end
  log = id
  redis.call('HSET', KEYS[1], 'log', log)
end
return {1, changed, log}
)lua";

constexpr std::string_view claim_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'epoch', 'builder', 'builder_until')
if state[1] then
  return {2}
end
if state[2] and state[2] ~= ARGV[1] and tonumber(state[3]) > now() then
  return {0, tonumber(state[3]) - now()}
end
redis.call('HSET', KEYS[1], 'format', '1', 'shards', ARGV[3], 'shard_secret', ARGV[4], 'key_type',
           ARGV[5], 'builder', ARGV[1], 'builder_until', integer(now() + ARGV[2]))
return {1}
)lua";

constexpr std::string_view begin_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'epoch', 'log', 'generation', 'building', 'builder',
                         'builder_until', 'shards', 'shard_secret', 'leftover', 'server',
                         'incomplete')
local function begun(building, leftover)
  return {1, building, state[2] or '0-0', tonumber(state[3] or 0), leftover, state[10] or '',
          state[11] or ''}
end
local lease_ends = integer(now() + ARGV[2])
local is_first, token = ARGV[7] == '0', string.match(state[5] or '', '^%x+')
if state[1] and token == ARGV[1] then
  -- Said twice: the first reply was lost.
  redis.call('HSET', KEYS[1], 'builder_until', lease_ends)
  return begun(tonumber(state[4]), tonumber(state[9] or 0))
end
if (state[1] or is_first) and token and token ~= ARGV[1] and tonumber(state[6]) > now() then
  return {0, tonumber(state[6]) - now()}
end
if state[1] and (state[7] ~= ARGV[4] or state[8] ~= ARGV[5]) then
  if is_first then
    return {-1}
  end
  -- Left over from a filter that lost its first shard.
  state = {}
end
local leftover = tonumber(state[4] or 0)
-- A number never comes back, not even after a filter was lost: nobody late finds a later one's
-- segments under it.
local building = math.max(now(), tonumber(state[3] or 0) + 1, leftover + 1)
if state[1] then
  redis.call('HDEL', KEYS[1], 'generation:' .. integer(leftover))
else
  redis.call('UNLINK', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[1], 'format', '1', 'shards', ARGV[4], 'shard_secret', ARGV[5], 'key_type',
             ARGV[6], 'generation', '0', 'log', '0-0', 'server',
             string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)'))
end
redis.call('HSET', KEYS[1], 'epoch', next_epoch(state[1] or (ARGV[3] .. '-0')), 'building',
           integer(building), 'leftover', integer(leftover), 'builder',
           ARGV[1] .. ' ' .. integer(building), 'builder_until', lease_ends)
return begun(building, leftover)
)lua";

constexpr std::string_view renew_body = R"lua(
if redis.call('HGET', KEYS[1], 'builder') ~= ARGV[1] then
  return {0}
end
redis.call('HSET', KEYS[1], 'builder_until', integer(now() + ARGV[2]))
return {1}
)lua";

constexpr std::string_view upload_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'builder', 'building')
if state[1] ~= ARGV[1] or
   redis.call('HEXISTS', KEYS[1], 'generation:' .. (state[2] or '')) == 1 then
  return {0}
end
for i = 2, #ARGV, 2 do
  -- The first piece comes with the header; a later one never makes a segment that was evicted anew.
  if ARGV[i] ~= '0' and redis.call('EXISTS', KEYS[2]) == 0 then
    return {-1, KEYS[2]}
  end
  redis.call('SETRANGE', KEYS[2], ARGV[i], ARGV[i + 1])
end
return {1}
)lua";

constexpr std::string_view sync_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'builder', 'building', 'epoch', 'log')
if state[1] ~= ARGV[1] then
  return {0}
end
local broken = broken_segment(2, 3) or headless_segment(2, 3 + #KEYS - 1)
if broken then
  return {-1, broken}
end
redis.call('HSET', KEYS[1], 'generation:' .. state[2], ARGV[2], 'epoch', next_epoch(state[3]))
return {1, state[4] or '0-0'}
)lua";

constexpr std::string_view replay_body = R"lua(
if redis.call('HGET', KEYS[1], 'builder') ~= ARGV[1] then
  return {0}
end
local broken = broken_segment(2, 2)
if broken then
  return {-1, broken}
end
set_lines(2 + #KEYS - 1, 0)
return {1}
)lua";

constexpr std::string_view finish_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'builder', 'building', 'epoch', 'generation')
if state[1] ~= ARGV[1] then
  return {0}
end
local broken = broken_segment(2, 4)
if broken then
  return {-1, broken}
end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if server ~= ARGV[2] then
  return {-2}
end
redis.call('HDEL', KEYS[1], 'builder', 'builder_until', 'building', 'leftover', 'incomplete',
           'generation:' .. state[4])
redis.call('HSET', KEYS[1], 'generation', state[2], 'server', server, 'position', ARGV[3], 'epoch',
           next_epoch(state[3]))
return {1}
)lua";

constexpr std::string_view abandon_body = R"lua(
local state = redis.call('HMGET', KEYS[1], 'builder', 'building', 'epoch')
if state[1] ~= ARGV[1] then
  return {0}
end
if not state[3] then
  redis.call('UNLINK', KEYS[1])
  return {1}
end
redis.call('HDEL', KEYS[1], 'builder', 'builder_until', 'building', 'leftover', 'generation:' .. state[2])
redis.call('HSET', KEYS[1], 'epoch', next_epoch(state[3]))
return {1}
)lua";

constexpr std::string_view distrust_body = R"lua(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  return 0
end
redis.call('HSET', KEYS[1], 'incomplete', ARGV[1], 'epoch', next_epoch(epoch))
return 1
)lua";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const auto part : parts) {
    text += part;
  }
  return text;
}

}  // namespace

const RedisScript& add_script() {
  static const std::string text = joined({whole_segments, set_lines, add_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& claim_script() {
  static const std::string text = joined({clock, claim_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& begin_script() {
  static const std::string text = joined({clock, next_epoch, begin_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& renew_script() {
  static const std::string text = joined({clock, renew_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& upload_script() {
  static const RedisScript script(upload_body);
  return script;
}

const RedisScript& sync_script() {
  static const std::string text = joined({next_epoch, whole_segments, headed_segments, sync_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& replay_script() {
  static const std::string text = joined({whole_segments, set_lines, replay_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& finish_script() {
  static const std::string text = joined({next_epoch, whole_segments, finish_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& abandon_script() {
  static const std::string text = joined({next_epoch, abandon_body});
  static const RedisScript script(text);
  return script;
}

const RedisScript& distrust_script() {
  static const std::string text = joined({next_epoch, distrust_body});
  static const RedisScript script(text);
  return script;
}

}  // namespace guestlist::redis
