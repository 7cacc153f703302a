#include "shard_build.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "guestlist/base/bytes.hpp"
#include "guestlist/redis/key_slot.hpp"
#include "shared_filter_scripts.hpp"

namespace guestlist::redis {
namespace {

constexpr std::size_t entries_per_read = 1000;
constexpr std::size_t keys_per_replay = 128;
constexpr std::size_t pieces_in_flight = 4;
constexpr std::uint64_t segments_per_unlink = 16;

std::int64_t first_integer(const RedisReply& reply) {
  const auto& element = reply.size() > 0 ? reply[0] : reply;
  return element.integer().value_or(0);
}

std::string milliseconds(Duration span) {
  return fmt::format("{}", std::chrono::duration_cast<std::chrono::milliseconds>(span).count());
}

std::string random_hex() {
  const Secret random = Secret::random();
  return to_hex(random.bytes());
}

bool is_zero(std::string_view bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

std::string text_of(std::uint32_t number) {
  return fmt::format("{}", number);
}

/// Asks for the lease until it is ours, or `wait_for_builder` is over.
Result<RedisReply> take_lease(const PatientCalls& calls, const std::string& filter,
                              const RedisScript& script, const std::vector<std::string>& keys,
                              const std::vector<std::string>& arguments,
                              const SharedBuildOptions& options) {
  const std::vector<std::string_view> key_views(keys.begin(), keys.end());
  const std::vector<std::string_view> argument_views(arguments.begin(), arguments.end());
  const SteadyClock clock;
  const auto give_up = clock.now() + options.wait_for_builder;
  while (true) {
    auto reply = calls.script(key_slot(keys.front()), script, key_views, argument_views);
    if (!reply || first_integer(*reply) == 1) {
      return reply;
    }
    if (first_integer(*reply) != 0) {
      return fail(Errc::cancelled, fmt::format("the filter '{}' was made anew by another builder "
                                               "just now; build again",
                                               filter));
    }
    if (clock.now() >= give_up) {
      return fail(Errc::already_exists,
                  fmt::format("another builder is at work on the filter '{}'; if it has died, its "
                              "lease ends in {} ms: try again then",
                              filter, (*reply)[1].text()));
    }
    std::this_thread::sleep_for(PatientCalls::pause);
  }
}

}  // namespace

Result<std::uint64_t> unlink_segments(const PatientCalls& calls, const ShardKeys& keys,
                                      std::uint64_t generation) {
  std::uint64_t removed = 0;
  for (std::uint64_t first = 0;; first += segments_per_unlink) {
    RedisPipeline pipeline;
    for (std::uint64_t i = first; i < first + segments_per_unlink; ++i) {
      pipeline.add(keys.slot(), {"UNLINK", keys.segment(generation, i)});
    }
    const auto replies = calls.execute(pipeline);
    if (!replies) {
      return fail(replies.error());
    }
    std::int64_t here = 0;
    for (const auto& reply : *replies) {
      here += reply.integer().value_or(0);
    }
    if (here == 0) {
      return removed;
    }
    removed += static_cast<std::uint64_t>(here);
  }
}

Result<std::uint64_t> remove_shard(const PatientCalls& calls, const std::string& filter,
                                   std::uint32_t shard) {
  const ShardKeys keys(filter, shard);
  const auto reply = calls.call(keys.slot(), {"HGETALL", keys.state()});
  if (!reply) {
    return fail(reply.error());
  }
  const auto state = SharedFilterState::parse(*reply);
  if (!state) {
    return fail(state.error());
  }
  std::uint64_t removed = 0;
  if (*state) {
    for (const auto generation : {(*state)->generation, (*state)->building}) {
      const auto segments = unlink_segments(calls, keys, generation);
      if (!segments) {
        return fail(segments.error());
      }
      removed += *segments;
    }
  }
  const auto last = calls.call(keys.slot(), {"UNLINK", keys.log(), keys.state()});
  if (!last) {
    return fail(last.error());
  }
  return removed + static_cast<std::uint64_t>(last->integer().value_or(0));
}

Result<void> ShardBuild::claim(const PatientCalls& calls, const std::string& filter,
                               const std::string& token, const Founding& founding,
                               const SharedBuildOptions& options) {
  const ShardKeys first(filter, 0);
  const auto claimed =
      take_lease(calls, filter, claim_script(), {first.state()},
                 {token, milliseconds(options.lease), text_of(founding.shards),
                  to_hex(founding.shard_secret.bytes()), std::string(name(founding.key_type))},
                 options);
  if (!claimed) {
    return fail(claimed.error());
  }
  // Shards of a filter that lost its first one: whoever still knows that filter must not find them.
  RedisPipeline pipeline;
  for (auto shard = founding.shards; shard < SharedFilterState::max_shards; ++shard) {
    const ShardKeys keys(filter, shard);
    pipeline.add(keys.slot(), {"EXISTS", keys.state()});
  }
  const auto left = calls.execute(pipeline);
  if (!left) {
    return fail(left.error());
  }
  for (std::size_t i = 0; i < left->size(); ++i) {
    if ((*left)[i].integer() == 0) {
      continue;
    }
    const auto removed =
        remove_shard(calls, filter, founding.shards + static_cast<std::uint32_t>(i));
    if (!removed) {
      return fail(removed.error());
    }
  }
  return {};
}

void ShardBuild::release_claim(const PatientCalls& calls, const std::string& filter,
                               const std::string& token) {
  const ShardKeys first(filter, 0);
  const std::string_view keys[] = {first.state()};
  const std::string_view arguments[] = {token};
  // A claim that cannot be taken back now ends with its lease.
  (void)calls.script(first.slot(), abandon_script(), keys, arguments);
}

Result<ShardBuild> ShardBuild::begin(const PatientCalls& calls, const std::string& filter,
                                     std::uint32_t shard, std::string token,
                                     const Founding& founding, const SharedBuildOptions& options) {
  ShardKeys keys(filter, shard);
  // Keys fall to shards at random: each has room for five standard deviations more than its share.
  const double share = static_cast<double>(options.items) / founding.shards;
  const auto room =
      static_cast<std::uint64_t>(founding.shards == 1 ? share : share + 5 * std::sqrt(share) + 1);
  const auto plan = FilterPlan::make(room, options.fpr);
  if (!plan) {
    return fail(plan.error());
  }
  const Secret secret = Secret::random();
  auto bits = BloomFilter::make(
      *plan, options.hash == HashKind::xxh3 ? KeyHasher::xxh3(secret) : KeyHasher::siphash(secret));
  if (!bits) {
    return fail(std::move(bits).error());
  }
  auto before = calls.call(keys.slot(), {"HGETALL", keys.state()});
  if (!before) {
    return fail(std::move(before).error());
  }
  const auto state = SharedFilterState::parse(*before);
  if (!state) {
    return fail(state.error());
  }

  const std::vector<std::string> names = {keys.state(), keys.log()};
  ShardBuild build(calls, std::move(keys), shard, std::move(token), std::move(*bits), options);
  const auto begun =
      take_lease(calls, filter, begin_script(), names,
                 {build.token_, milliseconds(options.lease), random_hex().substr(0, 16),
                  text_of(founding.shards), to_hex(founding.shard_secret.bytes()),
                  std::string(name(founding.key_type)), text_of(shard)},
                 options);
  if (!begun) {
    return fail(begun.error());
  }
  build.generation_ = static_cast<std::uint64_t>((*begun)[1].integer().value_or(0));
  build.former_ = static_cast<std::uint64_t>((*begun)[3].integer().value_or(0));
  build.token_ += fmt::format(" {}", build.generation_);
  if (auto cleared = build.clear_leftovers(*state, founding, (*begun)[4]); !cleared) {
    build.abandon();
    return fail(std::move(cleared).error());
  }
  if (auto known = build.read_past(*begun); !known) {
    build.abandon();
    return fail(std::move(known).error());
  }
  return build;
}

Result<void> ShardBuild::clear_leftovers(const std::optional<SharedFilterState>& before,
                                         const Founding& founding,
                                         const RedisReply& unfinished) const {
  std::vector<std::uint64_t> leftovers = {
      static_cast<std::uint64_t>(unfinished.integer().value_or(0))};
  if (before && before->shard_secret != founding.shard_secret) {
    leftovers = {before->generation, before->building};
  }
  for (const auto generation : leftovers) {
    if (const auto removed = unlink_segments(calls_, keys_, generation); !removed) {
      return fail(removed.error());
    }
  }
  return {};
}

Result<void> ShardBuild::read_past(const RedisReply& begun) {
  const std::string log_at_begin(begun[2].text());
  const std::string former_server(begun[5].text());
  const bool was_incomplete = !begun[6].text().empty();
  const auto info = calls_.call(keys_.slot(), {"INFO", "replication"});
  if (!info) {
    return fail(info.error());
  }
  const auto server = ServerIdentity::parse(*info);
  if (!server) {
    return fail(server.error());
  }
  server_ = server->replication_id;
  bool gap = false;
  if (auto read = replay_locally(log_at_begin, gap); !read) {
    return fail(std::move(read).error());
  }
  replayed_to_ = log_at_begin;
  // A filter that is not there may have been there a moment ago, with adds that went down with it.
  must_wait_ = gap || former_ == 0 || former_server != server_ || was_incomplete;
  return {};
}

template <class Take>
Result<void> ShardBuild::read_log(std::string_view end, bool& gap, Take take) {
  while (replayed_to_ != end) {
    const auto from = replayed_to_ == "0-0" ? std::string("-") : "(" + replayed_to_;
    const auto entries = calls_.call(
        keys_.slot(), {"XRANGE", keys_.log(), from, end.empty() ? std::string_view("+") : end,
                       "COUNT", fmt::format("{}", entries_per_read)});
    if (!entries) {
      return fail(entries.error());
    }
    const auto list = entries->elements();
    for (const auto& entry : list) {
      // {id, {"p", previous id, "k", packed keys}}
      const auto fields = entry.size() == 2 ? entry[1] : RedisReply();
      if (fields.size() != 4) {
        return fail(Errc::corrupt,
                    fmt::format("{} holds an entry that guestlist did not write", keys_.log()));
      }
      gap = gap || fields[1].text() != replayed_to_;
      const auto keys = unpack_keys(fields[3].text());
      if (!keys) {
        return fail(keys.error());
      }
      replayed_ += keys->size();
      if (auto taken = take(*keys); !taken) {
        return fail(std::move(taken).error());
      }
      replayed_to_ = entry[0].text();
    }
    if (list.size() < entries_per_read) {
      gap = gap || (!end.empty() && replayed_to_ != end);
      return {};
    }
  }
  return {};
}

Result<void> ShardBuild::replay_locally(std::string_view end, bool& gap) {
  return read_log(end, gap, [&](const std::vector<std::string_view>& keys) -> Result<void> {
    for (const auto key : keys) {
      bits_.insert(key);
    }
    return {};
  });
}

Result<void> ShardBuild::publish(std::string_view position, std::uint64_t items,
                                 const std::function<void(std::uint64_t bytes)>& uploaded) {
  GenerationParameters parameters;
  parameters.geometry = {bits_.layout(), bits_.block_count(), options_.lines_per_segment};
  parameters.hasher = bits_.hasher();
  parameters.capacity = bits_.capacity();
  parameters.fpr = bits_.fpr();
  parameters.items = items;
  parameters.created_unix = std::time(nullptr);

  // Most of what the log got meanwhile is cheaper to take here; the rest follows after the upload.
  bool gap = false;
  if (auto replayed = replay_locally({}, gap); !replayed) {
    return fail(std::move(replayed).error());
  }
  if (gap) {
    return fail(log_was_trimmed());
  }
  if (auto done = upload(parameters, uploaded); !done) {
    return fail(std::move(done).error());
  }
  const auto segments = segment_names(parameters.geometry);
  std::vector<std::string> lengths;
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    lengths.push_back(fmt::format("{}", parameters.geometry.segment_bytes(i)));
  }
  auto arguments = std::vector<std::string>{parameters.text()};
  arguments.insert(arguments.end(), lengths.begin(), lengths.end());
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    arguments.push_back(segment_header(parameters, generation_, shard_, i));
  }
  const auto synced = step(sync_script(), segments, arguments);
  if (!synced) {
    return fail(synced.error());
  }
  if (auto replayed = replay_on_server(parameters, (*synced)[1].text()); !replayed) {
    return fail(std::move(replayed).error());
  }
  arguments = {server_, std::string(position)};
  arguments.insert(arguments.end(), lengths.begin(), lengths.end());
  const auto finished = step(finish_script(), segments, arguments);
  if (!finished) {
    return fail(finished.error());
  }
  if (former_ != 0) {
    const auto removed = unlink_segments(calls_, keys_, former_);
    if (!removed) {
      return fail(removed.error());
    }
  }
  return {};
}

Result<void> ShardBuild::upload(const GenerationParameters& parameters,
                                const std::function<void(std::uint64_t bytes)>& uploaded) {
  for (std::uint64_t segment = 0; segment < parameters.geometry.segments(); ++segment) {
    if (auto done = upload_segment(parameters, segment, uploaded); !done) {
      return fail(std::move(done).error());
    }
    if (auto renewed = renew_lease(); !renewed) {
      return fail(std::move(renewed).error());
    }
  }
  return {};
}

Result<void> ShardBuild::upload_segment(const GenerationParameters& parameters,
                                        std::uint64_t segment,
                                        const std::function<void(std::uint64_t bytes)>& uploaded) {
  const auto name = keys_.segment(generation_, segment);
  const auto length = parameters.geometry.segment_bytes(segment) - ShardGeometry::header_bytes;
  const auto body =
      as_text(bits_.layer_bytes().front())
          .substr(segment * parameters.geometry.lines_per_segment * ShardGeometry::line_bytes,
                  length);
  const auto header = segment_header(parameters, generation_, shard_, segment);
  RedisPipeline pipeline;
  std::uint64_t waiting = 0;
  for (std::uint64_t at = 0; at < length; at += options_.piece_bytes) {
    const auto piece = body.substr(at, options_.piece_bytes);
    const bool is_first = at == 0;
    const bool is_last = at + piece.size() == length;
    // Redis fills with zeros what lies before the place that is written.
    if (is_first || is_last || !is_zero(piece)) {
      add_piece(pipeline, name, is_first ? header : std::string{}, at, piece);
    }
    waiting += piece.size();
    // The first one goes alone: the others need the segment that it makes.
    if (is_first || is_last || pipeline.size() >= pieces_in_flight) {
      if (const auto sent = send_pieces(pipeline); !sent) {
        return fail(sent.error());
      }
      uploaded(waiting);
      waiting = 0;
      pipeline = {};
    }
  }
  return {};
}

void ShardBuild::add_piece(RedisPipeline& pipeline, const std::string& segment,
                           const std::string& header, std::uint64_t at,
                           std::string_view piece) const {
  const std::string_view keys[] = {keys_.state(), segment};
  const auto offset = fmt::format("{}", ShardGeometry::header_bytes + at);
  std::vector<std::string_view> arguments = {token_};
  if (!header.empty()) {
    arguments.insert(arguments.end(), {"0", header});
  }
  arguments.insert(arguments.end(), {offset, piece});
  pipeline.add_script(keys_.slot(), upload_script(), keys, arguments);
}

Result<void> ShardBuild::send_pieces(const RedisPipeline& pipeline) const {
  const auto replies = calls_.execute(pipeline);
  if (!replies) {
    return fail(replies.error());
  }
  for (const auto& reply : *replies) {
    if (auto taken = outcome(reply); !taken) {
      return fail(std::move(taken).error());
    }
  }
  return {};
}

Result<void> ShardBuild::replay_on_server(const GenerationParameters& parameters,
                                          std::string_view end) {
  bool gap = false;
  std::vector<std::string> batch;
  auto read = read_log(end, gap, [&](const std::vector<std::string_view>& keys) -> Result<void> {
    batch.insert(batch.end(), keys.begin(), keys.end());
    if (batch.size() < keys_per_replay) {
      return {};
    }
    return send_lines(parameters, std::exchange(batch, {}));
  });
  if (!read) {
    return fail(std::move(read).error());
  }
  if (gap) {
    return fail(log_was_trimmed());
  }
  return batch.empty() ? Result<void>() : send_lines(parameters, batch);
}

Result<void> ShardBuild::send_lines(const GenerationParameters& parameters,
                                    const std::vector<std::string>& keys) {
  std::vector<std::string> segments;
  std::vector<std::string> lengths;
  std::vector<std::string> lines;
  std::map<std::uint64_t, std::size_t> places;
  for (const auto& key : keys) {
    const auto bits = line_bits(parameters, parameters.hasher(key));
    const auto [place, is_new] = places.emplace(bits.segment, segments.size() + 2);
    if (is_new) {
      segments.push_back(keys_.segment(generation_, bits.segment));
      lengths.push_back(fmt::format("{}", parameters.geometry.segment_bytes(bits.segment)));
    }
    lines.push_back(fmt::format("{}", place->second));
    lines.push_back(fmt::format("{}", bits.offset));
    lines.emplace_back(bits.mask_view());
  }
  lengths.insert(lengths.end(), lines.begin(), lines.end());
  const auto replayed = step(replay_script(), segments, lengths);
  return replayed ? Result<void>() : Result<void>(fail(replayed.error()));
}

Result<RedisReply> ShardBuild::step(const RedisScript& script,
                                    const std::vector<std::string>& segments,
                                    const std::vector<std::string>& arguments) const {
  std::vector<std::string_view> keys = {keys_.state()};
  keys.insert(keys.end(), segments.begin(), segments.end());
  std::vector<std::string_view> all_arguments = {token_};
  all_arguments.insert(all_arguments.end(), arguments.begin(), arguments.end());
  auto reply = calls_.script(keys_.slot(), script, keys, all_arguments);
  if (!reply) {
    return reply;
  }
  if (first_integer(*reply) == 0 && &script == &finish_script() && is_published()) {
    return reply;  // the step was taken, and its reply lost
  }
  return outcome(*std::move(reply));
}

Result<RedisReply> ShardBuild::outcome(RedisReply reply) const {
  switch (first_integer(reply)) {
    case 1:
      return reply;
    case -1:
      return fail(
          Errc::corrupt,
          fmt::format("the segment {} is gone from Redis before it was published: evicted or "
                      "removed; check maxmemory and its policy, and build again",
                      reply[1].text()));
    case -2:
      return fail(Errc::cancelled,
                  "the server was replaced or restarted while the generation was built, and may "
                  "have lost a part of it; build again");
    default:
      return fail(taken_over());
  }
}

bool ShardBuild::is_published() const {
  const auto now = calls_.call(keys_.slot(), {"HGETALL", keys_.state()});
  if (!now) {
    return false;
  }
  const auto state = SharedFilterState::parse(*now);
  return state && *state && (*state)->generation == generation_ && (*state)->server == server_;
}

std::vector<std::string> ShardBuild::segment_names(const ShardGeometry& geometry) const {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < geometry.segments(); ++i) {
    names.push_back(keys_.segment(generation_, i));
  }
  return names;
}

Result<void> ShardBuild::renew_lease() const {
  const auto renewed = step(renew_script(), {}, {milliseconds(options_.lease)});
  return renewed ? Result<void>() : Result<void>(fail(renewed.error()));
}

void ShardBuild::abandon() const {
  const auto abandoned = step(abandon_script(), {}, {});
  if (abandoned) {
    // What cannot be removed now the next builder removes.
    (void)unlink_segments(calls_, keys_, generation_);
  }
}

Error ShardBuild::log_was_trimmed() const {
  return {
      Errc::corrupt,
      fmt::format("the log {} lost entries while the generation was built: keys are added faster "
                  "than it is long, or it was evicted; keep more entries, or build again",
                  keys_.log())};
}

Error ShardBuild::taken_over() const {
  return {Errc::cancelled,
          "another builder has taken over: this one was silent for longer than its "
          "lease, or the filter was dropped"};
}

}  // namespace guestlist::redis
