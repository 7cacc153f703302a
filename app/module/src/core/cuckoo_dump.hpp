#pragma once

// Cuckoo filters as CF.SCANDUMP gives them and CF.LOADCHUNK takes them: a header, then the slots in
// chunks (core/chunks.hpp).
//
// A strict filter has the header of RedisBloom, 38 bytes, so that dumps go both ways; the 46 bytes
// of its versions 2.0 to 2.2 are read too. The 32 bytes of before belong to filters with an older
// hash, which stay with it. Others have a header of their own (docs/formats/cuckoo.md), which
// starts as no other can and ends in a checksum; it can describe a strict filter too, as snapshots
// need it.
//
// Everything that is read here may be hostile. Nothing is allocated before the header was found
// consistent and the limit was asked.

#include <cstdint>
#include <string>

#include "core/cuckoo_chain.hpp"

namespace guestlist::server {

/// What a filter is apart from its slots.
struct CuckooHeader {
  CuckooPlan plan;
  std::uint64_t layers = 1;
  std::uint64_t items = 0;
  std::uint64_t deletes = 0;
  Past past;
};

/// Whether there can be such a filter: no place leaves its table, no size overflows, and no more
/// items than slots.
bool is_trustworthy(const CuckooHeader& header) noexcept;

std::string cuckoo_header(const CuckooChain& chain);
/// The header of our own, whatever the filter. No other has its length.
inline constexpr std::size_t own_cuckoo_header_bytes = 56;
std::string own_cuckoo_header(const CuckooChain& chain);

/// Errors: `corrupt`, `truncated` where it has the length of no header, `newer_version`.
Result<CuckooHeader> parse_cuckoo_header(ByteView header);

/// A filter of the header's tables and counts; its slots are to follow in chunks. Requires:
/// is_trustworthy. Errors: `too_large`.
Result<CuckooChain> cuckoo_from_header(const CuckooHeader& header, const MemoryLimit& limit);

/// Requires: iterator >= 1.
Chunk cuckoo_chunk(const CuckooChain& chain, std::uint64_t iterator);

/// Whether the bytes have a place. `iterator` is the one that came with them. An empty chunk says
/// that the load has come to this place, as with Bloom filters. Bytes that change a filter which
/// was whole take items from it that nobody deleted, and its past says so.
bool load_cuckoo_chunk(CuckooChain& chain, std::int64_t iterator, ByteView bytes);

}  // namespace guestlist::server
