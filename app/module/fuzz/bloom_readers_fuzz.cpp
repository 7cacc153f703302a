// What BF.LOADCHUNK, RESTORE and a snapshot hand to the readers of Bloom filters.

#include "hostile_bloom.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guestlist;
  server::try_as_bloom(ByteView(reinterpret_cast<const std::byte*>(data), size));
  return 0;
}
