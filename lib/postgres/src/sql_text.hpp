#pragma once

// Names and values as parts of SQL. Threads: pure functions.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace guestlist::postgres {

/// `name` as an identifier, whatever it contains. Requires: no zero byte.
std::string quoted_identifier(std::string_view name);

/// `text` as a literal, whatever it contains and `standard_conforming_strings` is. Requires: no
/// zero byte.
std::string quoted_literal(std::string_view text);

/// An array as PostgreSQL reads it, of elements in text form; nothing is NULL.
std::string array_literal(std::span<const std::optional<std::string>> elements);

/// Whether PostgreSQL accepts the bytes as text of the encoding UTF8.
bool is_postgres_text(std::string_view bytes) noexcept;

}  // namespace guestlist::postgres
