// What comes out of Redis may be anything: parameters that are accepted are those that Redisson
// writes, whatever bitmap and key they meet; and keys may be any bytes.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "guestlist/redis/redisson_codec.hpp"
#include "guestlist/redis/redisson_layout.hpp"

using namespace guestlist;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view cut(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return head;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::optional<std::string_view>, 4> values;
  for (auto& value : values) value = cut(rest);
  const std::string_view codec = cut(rest);
  const std::string_view java = cut(rest);
  const std::string_view key = cut(rest);

  std::string buffer;
  const auto encoding = RedissonEncoding::parse(codec, java);
  const auto encoded = encoding ? encoding->encode(key, buffer) : Result<std::string_view>(key);
  const auto parameters = RedissonParameters::parse(values);
  if (!parameters) return 0;
  for (std::size_t field = 0; field < 3; ++field) {
    require(parameters->fields()[field] == *values[field]);
  }
  const auto bitmap = RedissonBitmap::make(*parameters, as_bytes(rest));
  if (!bitmap || !encoded) return 0;
  require(bitmap->bits().count() <= parameters->size);
  RedissonProbes probes(*encoded, parameters->size);
  bool all_set = true;
  for (std::uint32_t i = 0; i < parameters->hash_iterations; ++i) {
    const std::uint64_t place = probes.next();
    require(place < parameters->size);
    all_set &= bitmap->bits().test(place);
  }
  require(bitmap->may_contain(*encoded) == all_set);
  return 0;
}
