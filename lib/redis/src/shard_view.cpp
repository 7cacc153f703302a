#include "shard_view.hpp"

#include <algorithm>
#include <utility>

namespace guestlist::redis {

Reason reason_of(const RedisReply& reply) {
  if (reply.is_ok()) {
    return Reason::mismatched;
  }
  const auto code = reply.error().code;
  if (code == Errc::deadline_exceeded) {
    return Reason::deadline;
  }
  if (code == Errc::overloaded) {
    return Reason::overloaded;
  }
  if (code == Errc::mismatched || code == Errc::foreign_format || code == Errc::newer_version) {
    return Reason::mismatched;
  }
  return Reason::unreachable;
}

bool share_alike(const ShardView& a, const ShardView& b) {
  return a.state.shards == b.state.shards && a.state.shard_secret == b.state.shard_secret;
}

ViewCheck judge(const ShardView& view, const ShardView& first, std::span<const RedisReply> lines,
                const RedisReply& epoch, const RedisReply& server) {
  using Outcome = ViewCheck::Outcome;
  if (!epoch.is_ok()) {
    return {Outcome::failed, reason_of(epoch)};
  }
  if (epoch.is_null()) {
    return {Outcome::refresh, Reason::missing};
  }
  if (epoch.text() != view.state.epoch || epoch.session() != view.session) {
    return {Outcome::refresh, Reason::stale};
  }
  if (!share_alike(view, first)) {
    return {Outcome::refresh, Reason::stale};
  }
  const auto identity = ServerIdentity::parse(server);
  if (!identity) {
    return {Outcome::failed, reason_of(server)};
  }
  if (server.session() != view.session || *identity != view.server) {
    return {Outcome::refresh, Reason::stale};
  }
  for (const auto& line : lines) {
    if (!line.is_ok()) {
      return {Outcome::failed, reason_of(line)};
    }
    if (line.session() != view.session) {
      return {Outcome::refresh, Reason::stale};
    }
    if (line.text().size() != ShardGeometry::line_bytes) {
      return {Outcome::refresh, Reason::missing};
    }
  }
  return {Outcome::holds, Reason::none};
}

Verdict verdict_of(const ShardView& view, const LineBits& bits, std::string_view line) {
  if (view.distrust != Reason::none) {
    return Verdict::unknown(view.distrust);
  }
  return bits.is_set_in(line) ? Verdict::maybe() : Verdict::absent();
}

ShardView make_view(SharedFilterState state, const ServerIdentity& server, std::uint64_t session,
                    std::uint32_t shard, std::span<const RedisReply> headers,
                    std::span<const RedisReply> lengths) {
  ShardView view{std::move(state), server, session, Reason::none};
  if (!view.state.live) {
    view.distrust = Reason::building;
    return view;
  }
  if (!server.is_master) {
    view.distrust = Reason::stale;
    return view;
  }
  if (!view.state.incomplete.empty() || view.state.server != server.replication_id) {
    view.distrust = Reason::incomplete;
    return view;
  }
  const auto& parameters = *view.state.live;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (!headers[i].is_ok() || !lengths[i].is_ok()) {
      view.distrust = reason_of(headers[i].is_ok() ? lengths[i] : headers[i]);
      view.session = 0;
      return view;
    }
    if (headers[i].session() != session || lengths[i].session() != session) {
      view.distrust = Reason::stale;
      view.session = 0;
      return view;
    }
    if (lengths[i].integer() == 0) {
      view.distrust = Reason::missing;
      return view;
    }
    if (lengths[i].integer() != static_cast<std::int64_t>(parameters.geometry.segment_bytes(i))) {
      view.distrust = Reason::corrupt;
      return view;
    }
    if (headers[i].text() != segment_header(parameters, view.state.generation, shard, i)) {
      view.distrust = Reason::mismatched;
      return view;
    }
  }
  return view;
}

}  // namespace guestlist::redis
