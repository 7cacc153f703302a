#pragma once

// Filters piece by piece, as SCANDUMP gives them and LOADCHUNK takes them. An iterator n >= 1
// stands for offset n - 1 in the arrays of a filter one after the other; a chunk never crosses from
// one array to the next and is at most 16 MiB.

#include <algorithm>
#include <cstdint>

#include "core/value_stream.hpp"
#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::server {

inline constexpr std::uint64_t max_chunk_bytes = std::uint64_t{16} << 20;

struct Chunk {
  std::uint64_t next = 0;  ///< the iterator that goes with the bytes; 0 past the end
  ByteView bytes;
};

/// Requires: iterator >= 1.
template <class Layers>
Chunk chunk_of(const Layers& layers, std::uint64_t iterator) noexcept {
  std::uint64_t offset = iterator - 1;
  for (const auto& layer : layers) {
    const ByteView bits = layer.bits().bytes();
    if (offset < bits.size()) {
      const ByteView rest = bits.subspan(offset);
      const ByteView bytes = rest.first(std::min<std::uint64_t>(rest.size(), max_chunk_bytes));
      return {iterator + bytes.size(), bytes};
    }
    offset -= bits.size();
  }
  return {};
}

/// Where bytes that came with an iterator belong.
struct ChunkPlace {
  enum class Fit : std::uint8_t { fits, no_array, too_large };
  Fit fit = Fit::no_array;
  std::uint64_t start = 0;
  MutableByteView bytes;  ///< as many as came
};

/// Requires: the bytes end at or after the first: `iterator - 1 >= size`.
template <class Layers>
ChunkPlace place_of(Layers& layers, std::uint64_t iterator, std::uint64_t size) noexcept {
  const std::uint64_t start = iterator - 1 - size;
  std::uint64_t offset = start;
  for (auto& layer : layers) {
    const MutableByteView bits = layer.bits().mutable_bytes();
    if (offset < bits.size()) {
      if (size > bits.size() - offset) return {ChunkPlace::Fit::too_large, start, {}};
      return {ChunkPlace::Fit::fits, start, bits.subspan(offset, size)};
    }
    offset -= bits.size();
  }
  return {ChunkPlace::Fit::no_array, start, {}};
}

/// How much of a filter that arrives in chunks is there. It is whole once they have come in order
/// to the last. Until then what it does not hold may still be on its way: nothing is absent.
struct ChunkLoad {
  std::uint64_t awaited_bytes = 0;
  std::uint64_t arrived_bytes = 0;

  bool is_whole() const noexcept { return arrived_bytes >= awaited_bytes; }
  /// The bytes from `start` to `end` have come.
  void take(std::uint64_t start, std::uint64_t end) noexcept {
    if (start <= arrived_bytes) arrived_bytes = std::max(arrived_bytes, end);
    if (is_whole()) *this = {};
  }
};

void save_load(const ChunkLoad& load, ValueWriter& out);
/// Errors: `truncated`, `corrupt`.
Result<ChunkLoad> read_load(ValueReader& in);

}  // namespace guestlist::server
