#include "guestlist/hash/secret.hpp"

#include <sodium.h>

#include "guestlist/base/file.hpp"

namespace guestlist {
namespace {

std::array<std::byte, Secret::size> first_bytes(ByteView bytes) {
  std::array<std::byte, Secret::size> out{};
  std::memcpy(out.data(), bytes.data(), out.size());
  return out;
}

}  // namespace

Secret Secret::random() {
  // randombytes_buf needs no sodium_init and ends the process where the system has no randomness.
  std::array<std::byte, size> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  return Secret(bytes);
}

Result<Secret> Secret::from_file(const std::string& path) {
  auto content = read_file(path, 4096);
  if (!content) return fail(std::move(content).error());
  if (content->size() == size) return Secret(first_bytes(as_bytes(*content)));
  std::string_view digits = *content;
  while (!digits.empty() && (digits.back() == '\n' || digits.back() == '\r'))
    digits.remove_suffix(1);
  const auto bytes = from_hex(digits);
  if (!bytes || bytes->size() != size) {
    return fail(Errc::invalid_argument,
                "'" + path +
                    "' is no secret: it must hold 32 hexadecimal digits or 16 raw bytes, as " +
                    "`openssl rand -hex 16` prints them");
  }
  return Secret(first_bytes(*bytes));
}

std::uint64_t Secret::fingerprint() const {
  constexpr std::string_view purpose = "guestlist secret fingerprint";
  std::array<unsigned char, crypto_generichash_BYTES_MIN> digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size(),
                     reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
  return load_little_endian<std::uint64_t>(digest.data());
}

}  // namespace guestlist
