// Reads arbitrary bytes as a Guava stream: no crash, nothing allocated beyond the input, and what
// was read is what would be written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "guestlist/filter/guava_bloom_filter.hpp"
#include "guestlist/filter/guava_funnel.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guestlist;
  const ByteView stream = std::as_bytes(std::span(data, size));
  std::string buffer;
  for (const char* name : {"string", "unencoded-chars", "string-utf-16", "long", "int"}) {
    (void)funnel(*guava_funnel_from_name(name), as_text(stream), buffer);
  }
  auto filter = GuavaBloomFilter::read(stream);
  if (!filter) return 0;
  if (filter->size_bytes() > size) std::abort();
  const auto header = filter->header();
  if (!std::equal(header.begin(), header.end(), stream.begin())) std::abort();
  if (!std::equal(filter->words().begin(), filter->words().end(), stream.begin() + 6)) std::abort();
  filter->insert("key");
  if (!filter->may_contain("key")) std::abort();
  (void)filter->approximate_count();
  return 0;
}
