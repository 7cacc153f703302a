// Reads arbitrary bytes as json, in blocks of two sizes: no crash, and the same keys or the same
// refusal.

#include "reader_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  guestlist::InputOptions options;
  options.json_field = "a.b";
  return guestlist::fuzz_reader(options, data, size);
}
