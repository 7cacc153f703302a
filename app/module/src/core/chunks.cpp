#include "core/chunks.hpp"

#include <xxhash.h>

#include "core/byte_stream.hpp"

namespace guestlist::server {
namespace {

std::uint64_t checksum_of(const ChunkLoad& load) {
  ByteWriter bytes;
  bytes.put(load.awaited_bytes);
  bytes.put(load.arrived_bytes);
  return XXH3_64bits(bytes.text().data(), bytes.text().size());
}

}  // namespace

void save_load(const ChunkLoad& load, ValueWriter& out) {
  out.number(load.awaited_bytes);
  out.number(load.arrived_bytes);
  out.number(checksum_of(load));
}

Result<ChunkLoad> read_load(ValueReader& in) {
  const ChunkLoad load{in.number(), in.number()};
  const std::uint64_t checksum = in.number();
  if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
  if (checksum != checksum_of(load))
    return fail(Errc::corrupt, "the checksum of the load does not hold");
  return load;
}

}  // namespace guestlist::server
