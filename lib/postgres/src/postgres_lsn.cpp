#include "guestlist/postgres/postgres_lsn.hpp"

#include <fmt/format.h>

#include <charconv>

namespace guestlist {
namespace {

std::optional<std::uint32_t> parse_half(std::string_view digits) noexcept {
  constexpr int base = 16;
  std::uint32_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<PostgresLsn> PostgresLsn::parse(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = parse_half(text.substr(0, slash));
  const auto low = parse_half(text.substr(slash + 1));
  if (!high || !low) return std::nullopt;
  return PostgresLsn{std::uint64_t{*high} << 32 | *low};
}

std::string PostgresLsn::text() const {
  return fmt::format("{:X}/{:X}", value >> 32, value & 0xFFFF'FFFF);
}

}  // namespace guestlist
