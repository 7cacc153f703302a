// Canonicalises arbitrary bytes as every type: no crash, no runaway length, and a canonical form is
// its own.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "guestlist/hash/key_type.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guestlist;
  const std::string_view key(reinterpret_cast<const char*>(data), size);
  for (const KeyType type :
       {KeyType::text, KeyType::bytes, KeyType::integer, KeyType::uuid, KeyType::decimal}) {
    std::string buffer;
    const auto form = canonicalize(type, key, buffer);
    if (!form) continue;
    if (form->size() > size + 100) std::abort();
    if (type == KeyType::bytes)
      continue;  // bytes that spell the hexadecimal form are decoded once, on purpose
    const std::string once(*form);
    std::string again;
    const auto twice = canonicalize(type, once, again);
    if (!twice || *twice != once) std::abort();
  }
  return 0;
}
