#include "printable_text.hpp"

#include <cstdint>

namespace guestlist::filter_file {
namespace {

/// Bytes of the printable character at the front of `text`; 0 where there is none.
/// Source: the Unicode standard, table 3-7 (well-formed UTF-8); controls are U+0000-1F and
/// U+007F-9F.
std::size_t printable_character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  std::uint32_t code_point = lead & (0x7fU >> size);
  for (const char next : text.substr(1, size - 1)) {
    const auto value = static_cast<unsigned char>(next);
    if ((value & 0xc0U) != 0x80U) return 0;
    code_point = code_point << 6 | (value & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool is_surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  return code_point < smallest[size] || code_point > 0x10ffff || is_surrogate ? 0 : size;
}

}  // namespace

bool is_printable(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = printable_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string to_printable(std::string_view text, std::size_t limit) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = printable_character(text);
    const std::string_view character = size == 0 ? std::string_view("?") : text.substr(0, size);
    if (out.size() + character.size() > limit) break;
    out += character;
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace guestlist::filter_file
