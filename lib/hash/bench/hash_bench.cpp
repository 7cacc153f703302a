// What a key costs to hash: rows hash/<function>/<bytes of a key>, over keys that lie one after
// another in memory. The hashes are independent, so this is throughput, as in a loop of queries.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "guestlist/hash/highwayhash.hpp"
#include "guestlist/hash/integer_hash.hpp"
#include "guestlist/hash/key_hasher.hpp"
#include "guestlist/hash/murmur3.hpp"

namespace guestlist {
namespace {

constexpr std::size_t key_count = 1024;

template <class Hash>
void hash_keys(benchmark::State& state, std::size_t key_bytes, const Hash& hash) {
  std::string text(key_count * key_bytes, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('!' + i * 31 % 89);
  for ([[maybe_unused]] auto iteration : state) {
    std::uint64_t sum = 0;
    for (std::size_t key = 0; key < key_count; ++key)
      sum += hash(std::string_view(text).substr(key * key_bytes, key_bytes));
    benchmark::DoNotOptimize(sum);
  }
  state.counters["per_key"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(key_count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::uint64_t first_eight(std::string_view key) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, key.data(), sizeof(value));
  return value;
}

bool register_all() {
  const auto add = [](const std::string& function, std::size_t key_bytes, auto hash) {
    benchmark::RegisterBenchmark(
        ("hash/" + function + "/" + std::to_string(key_bytes)).c_str(),
        [key_bytes, hash](benchmark::State& state) { hash_keys(state, key_bytes, hash); });
  };
  const auto with = [](const KeyHasher& hasher) {
    return [hasher](std::string_view key) { return hasher(key).value; };
  };
  for (const std::size_t key_bytes : {8U, 16U, 64U}) {
    add("siphash", key_bytes, with(KeyHasher::siphash(Secret())));
    add("xxh3", key_bytes, with(KeyHasher::xxh3(Secret())));
    add("xxh64", key_bytes, with(KeyHasher::xxh64()));
    add("murmur3", key_bytes, [](std::string_view key) { return murmur3_x64_128(key).first; });
    add("highwayhash", key_bytes,
        [](std::string_view key) { return highwayhash_128(key, redisson_highway_key).first; });
  }
  add("integer", sizeof(std::uint64_t),
      [](std::string_view key) { return IntegerHasher{42}(first_eight(key)).value; });
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace guestlist
