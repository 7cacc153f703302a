#include "slot_map.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace guestlist::redis {

Result<SlotMap> SlotMap::parse(const RedisReply& reply, const RedisEndpoint& asked) {
  if (!reply.is_ok()) {
    auto error = reply.error();
    error.detail = fmt::format("{} does not answer as a Cluster: {}", asked.text(), error.detail);
    return fail(std::move(error));
  }
  SlotMap map;
  for (const auto& range : reply.elements()) {
    if (range.size() < 3 || range[2].size() < 2) {
      return fail(Errc::foreign_format,
                  fmt::format("{} describes its slots in an unknown form", asked.text()));
    }
    const auto first = range[0].integer();
    const auto last = range[1].integer();
    const auto master = range[2];
    const auto port = master[1].integer();
    if (!first || !last || !port || *first < 0 || *last >= key_slots || *port <= 0 ||
        *port > 0xFFFF) {
      return fail(Errc::foreign_format,
                  fmt::format("{} names slots or ports that do not exist", asked.text()));
    }
    const auto host = master[0].text();
    const RedisEndpoint node{host.empty() || host == "?" ? asked.host : std::string(host),
                             static_cast<std::uint16_t>(*port)};
    const auto index = map.index_of(node);
    for (auto slot = *first; slot <= *last; ++slot) {
      map.owner_[static_cast<std::size_t>(slot)] = index;
    }
  }
  return map;
}

const RedisEndpoint* SlotMap::master_of(std::uint16_t slot) const noexcept {
  return owner_[slot] == nobody ? nullptr : &nodes_[owner_[slot]];
}

void SlotMap::move(std::uint16_t slot, const RedisEndpoint& to) {
  owner_[slot] = index_of(to);
}

std::uint16_t SlotMap::index_of(const RedisEndpoint& node) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), node);
  if (found == nodes_.end()) {
    nodes_.push_back(node);
    return static_cast<std::uint16_t>(nodes_.size() - 1);
  }
  return static_cast<std::uint16_t>(found - nodes_.begin());
}

}  // namespace guestlist::redis
