#include "shard_copy.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace guestlist::redis {
namespace {

constexpr std::string_view entries_per_look = "1000";
constexpr std::size_t pieces_in_flight = 4;

Error changed_meanwhile() {
  return {Errc::cancelled, "the shared filter changed while it was copied"};
}

}  // namespace

Result<std::shared_ptr<ShardCopy>> ShardCopy::load(RedisClient& client, const std::string& filter,
                                                   std::uint32_t shard, ShardViews::View view,
                                                   Duration call_timeout, const Clock& clock) {
  const auto& parameters = *view->state.live;
  const auto& geometry = parameters.geometry;
  ShardKeys keys(filter, shard);
  auto storage = Storage::allocate(geometry.lines * ShardGeometry::line_bytes);
  if (!storage) return fail(std::move(storage).error());
  auto* to = reinterpret_cast<char*>(storage->mutable_data());
  for (std::uint64_t segment = 0; segment < geometry.segments(); ++segment) {
    const auto name = keys.segment(view->state.generation, segment);
    const auto end = geometry.segment_bytes(segment);
    for (auto at = ShardGeometry::header_bytes; at < end;) {
      RedisPipeline pipeline;
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < pieces_in_flight && at < end; ++i) {
        const auto size = std::min<std::uint64_t>(piece_bytes, end - at);
        pipeline.add(keys.slot(),
                     {"GETRANGE", name, fmt::format("{}", at), fmt::format("{}", at + size - 1)});
        at += size;
        wanted += size;
      }
      for (const auto& piece :
           client.execute(std::move(pipeline), Deadline::after(call_timeout, clock))) {
        if (!piece.is_ok()) return fail(piece.error());
        if (piece.text().size() > wanted) return fail(changed_meanwhile());
        std::memcpy(to, piece.text().data(), piece.text().size());
        to += piece.text().size();
        wanted -= piece.text().size();
      }
      if (wanted != 0) return fail(changed_meanwhile());
    }
  }
  FilterShape shape;
  shape.structure = Structure::bloom;
  shape.capacity = parameters.capacity;
  shape.fpr = parameters.fpr;
  LayerShape layer;
  layer.layout = static_cast<std::uint32_t>(geometry.layout);
  layer.units = geometry.lines;
  layer.capacity = parameters.capacity;
  layer.fpr = parameters.fpr;
  layer.size_bytes = storage->size_bytes();
  shape.layers = {layer};
  std::vector<Storage> layers;
  layers.push_back(std::move(*storage));
  auto bits = BloomFilter::restore(shape, parameters.hasher, std::move(layers));
  if (!bits) return fail(std::move(bits).error());
  std::shared_ptr<ShardCopy> copy(
      new ShardCopy(std::move(keys), std::move(view), std::move(*bits)));
  return copy;
}

Result<std::uint64_t> ShardCopy::follow(RedisClient& client, Duration call_timeout,
                                        const Clock& clock) {
  std::uint64_t followed = 0;
  while (true) {
    const auto began = clock.now();
    RedisPipeline pipeline;
    pipeline.add(keys_.slot(), {"XRANGE", keys_.log(),
                                followed_to_ == "0-0" ? std::string("-") : "(" + followed_to_, "+",
                                "COUNT", entries_per_look});
    pipeline.add(keys_.slot(), {"HMGET", keys_.state(), "epoch", "log"});
    pipeline.add(keys_.slot(), {"INFO", "replication"});
    const auto replies = client.execute(std::move(pipeline), Deadline::after(call_timeout, clock));
    for (const auto& reply : replies) {
      if (!reply.is_ok()) return fail(reply.error());
    }
    const auto server = ServerIdentity::parse(replies[2]);
    const auto state = replies[1].elements();
    if (!server || *server != view_->server || state.size() != 2 ||
        state[0].text() != view_->state.epoch || replies[1].session() != replies[0].session() ||
        replies[2].session() != replies[0].session()) {
      return fail(changed_meanwhile());
    }
    for (const auto& entry : replies[0].elements()) {
      const auto fields = entry.size() == 2 ? entry[1] : RedisReply();
      if (fields.size() != 4 || fields[1].text() != followed_to_) return fail(changed_meanwhile());
      const auto keys = unpack_keys(fields[3].text());
      if (!keys) return fail(changed_meanwhile());
      for (const auto key : *keys) insert(key);
      followed += keys->size();
      followed_to_ = entry[0].text();
    }
    // The log's end was read after its entries: where they do not reach it, there are more.
    if (state[1].text() == followed_to_) {
      looked_at_.store(began.time_since_epoch().count(), std::memory_order_release);
      return followed;
    }
    if (replies[0].size() == 0) return fail(changed_meanwhile());
  }
}

}  // namespace guestlist::redis
