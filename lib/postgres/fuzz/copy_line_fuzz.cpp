// Any bytes are a line of COPY or none, and its fields lie within what the line can hold.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "copy_line.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  guestlist::postgres::CopyLine parsed;
  if (!parsed.parse(line)) return 0;
  std::size_t bytes = 0;
  for (const std::string_view field : parsed.fields()) bytes += field.size() + 1;
  if (bytes > size) std::abort();
  return 0;
}
