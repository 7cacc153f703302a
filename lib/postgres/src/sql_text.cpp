#include "sql_text.hpp"

#include "guestlist/base/utf16.hpp"

namespace guestlist::postgres {

std::string quoted_identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string quoted_literal(std::string_view text) {
  std::string quoted = "E'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + '\'';
}

std::string array_literal(std::span<const std::optional<std::string>> elements) {
  std::string literal = "{";
  for (const auto& element : elements) {
    if (literal.size() > 1) literal += ',';
    if (!element) {
      literal += "NULL";
      continue;
    }
    literal += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') literal += '\\';
      literal += c;
    }
    literal += '"';
  }
  return literal + '}';
}

bool is_postgres_text(std::string_view bytes) noexcept {
  return valid_utf8_prefix(bytes) == bytes.size() && bytes.find('\0') == std::string_view::npos;
}

}  // namespace guestlist::postgres
