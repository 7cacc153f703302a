#pragma once

// A position in PostgreSQL's write-ahead log, written `16/B374D848` by the server.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace guestlist {

struct PostgresLsn {
  std::uint64_t value = 0;

  static std::optional<PostgresLsn> parse(std::string_view text) noexcept;
  std::string text() const;
  friend auto operator<=>(const PostgresLsn&, const PostgresLsn&) noexcept = default;
};

}  // namespace guestlist
