#include "guestlist/hash/key_hasher.hpp"

#include <sodium.h>
#include <xxhash.h>

#include "guestlist/base/bytes.hpp"

namespace guestlist {

static_assert(crypto_shorthash_KEYBYTES == Secret::size);

std::string_view name(HashKind kind) noexcept {
  switch (kind) {
    case HashKind::siphash:
      return "siphash";
    case HashKind::xxh3:
      return "xxh3";
    case HashKind::xxh64:
      return "xxh64";
  }
  return "unknown";
}

KeyHasher KeyHasher::siphash(const Secret& secret) noexcept {
  return {HashKind::siphash, secret};
}
KeyHasher KeyHasher::xxh3(const Secret& secret) noexcept {
  return {HashKind::xxh3, secret};
}
KeyHasher KeyHasher::xxh64() noexcept {
  return {HashKind::xxh64, Secret()};
}

KeyHash KeyHasher::operator()(std::string_view key) const noexcept {
  const void* const secret = secret_.bytes().data();
  switch (kind_) {
    case HashKind::siphash:
      break;
    case HashKind::xxh3:
      return {
          XXH3_64bits_withSeed(key.data(), key.size(), load_little_endian<std::uint64_t>(secret))};
    case HashKind::xxh64:
      return {XXH64(key.data(), key.size(), 0)};
  }
  unsigned char digest[crypto_shorthash_BYTES];
  crypto_shorthash(digest, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                   static_cast<const unsigned char*>(secret));
  return {load_little_endian<std::uint64_t>(digest)};
}

}  // namespace guestlist
