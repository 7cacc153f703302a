#pragma once

// The server's log of a filter: its header and chunks, so that neither the log's buffer nor a
// client's has to hold a whole filter.

#include <algorithm>
#include <string>

#include "core/chunks.hpp"
#include "server_api.hpp"

namespace guestlist::server {

/// `command`: the one that takes chunks. `chunk_at`: the chunk at an iterator. A filter whose load
/// was not over is in the same state after the log was replayed.
template <class ChunkAt>
void rewrite_in_chunks(Io* io, const char* command, String* key, const std::string& header,
                       const ChunkLoad& load, ChunkAt chunk_at) {
  api::emit_aof(io, command, "scb", key, "1", header.data(), header.size());
  for (Chunk chunk = chunk_at(1); chunk.next != 0; chunk = chunk_at(chunk.next)) {
    api::emit_aof(io, command, "slb", key, static_cast<long long>(chunk.next),
                  reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size());
  }
  if (load.is_whole()) return;
  const std::uint64_t arrived = std::max<std::uint64_t>(1, load.arrived_bytes);
  api::emit_aof(io, command, "slb", key, static_cast<long long>(arrived + 1), "", std::size_t{0});
}

}  // namespace guestlist::server
