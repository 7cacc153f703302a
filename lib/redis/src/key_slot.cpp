#include "guestlist/redis/key_slot.hpp"

#include <array>

namespace guestlist {
namespace {

constexpr std::array<std::uint16_t, 256> crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000U) != 0 ? (crc << 1) ^ 0x1021U : crc << 1;
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

constexpr auto table = crc16_table();

}  // namespace

std::string_view hash_tag(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == std::string_view::npos) {
    return key;
  }
  const auto close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) {
    return key;
  }
  return key.substr(open + 1, close - open - 1);
}

std::uint16_t key_slot(std::string_view key) noexcept {
  unsigned crc = 0;
  for (const char c : hash_tag(key)) {
    crc = ((crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xFFU]) & 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc % key_slots);
}

}  // namespace guestlist
