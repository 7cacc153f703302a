#include "key_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "guestlist/base/bytes.hpp"
#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

struct KnownType {
  std::uint32_t id;
  KeyType type;
  std::string_view sql_type;
  bool blank_padded = false;
};

// The ids are fixed for ever: pg_type.dat. One type of integers compares with all three, by index
// too, and an `integer` column that becomes `bigint` changes nothing.
constexpr std::array known_types = {
    KnownType{21, KeyType::integer, "int8"},         // int2
    KnownType{23, KeyType::integer, "int8"},         // int4
    KnownType{20, KeyType::integer, "int8"},         // int8
    KnownType{1700, KeyType::decimal, "numeric"},    // numeric
    KnownType{2950, KeyType::uuid, "uuid"},          // uuid
    KnownType{25, KeyType::text, "text"},            // text
    KnownType{1043, KeyType::text, "text"},          // varchar
    KnownType{1042, KeyType::text, "bpchar", true},  // char(n)
    KnownType{17, KeyType::bytes, "bytea"},          // bytea
};

constexpr std::string_view understood =
    "smallint, integer, bigint, numeric, uuid, text, varchar, char and bytea are";

bool is_int8(std::string_view canonical) noexcept {
  std::int64_t value = 0;
  const char* const end = canonical.data() + canonical.size();
  const auto [stopped, error] = std::from_chars(canonical.data(), end, value);
  return error == std::errc() && stopped == end;
}

// PostgreSQL's numeric: at most 131,072 digits before the point and 16,383 after it.
bool is_numeric(std::string_view canonical) noexcept {
  constexpr std::int64_t most_whole_digits = 131'072;
  constexpr std::int64_t most_fraction_digits = 16'383;
  if (canonical.starts_with('-')) canonical.remove_prefix(1);
  const bool is_word = canonical.starts_with('N') || canonical.starts_with('I');
  if (is_word) return true;
  std::int64_t exponent = 0;
  if (const auto e = canonical.find('e'); e != std::string_view::npos) {
    const std::string_view digits = canonical.substr(e + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    canonical = canonical.substr(0, e);
  }
  const auto point = std::min(canonical.find('.'), canonical.size());
  const auto whole = static_cast<std::int64_t>(point);
  const auto fraction = static_cast<std::int64_t>(canonical.size() - point) - 1;
  return whole + exponent <= most_whole_digits &&
         std::max<std::int64_t>(fraction, 0) - exponent <= most_fraction_digits;
}

Error refused(const ColumnDescription& column, std::string_view why) {
  return {make_error_code(Errc::invalid_argument),
          fmt::format("column '{}' cannot be a key: {}", column.name, why)};
}

}  // namespace

Result<KeyColumn> KeyColumn::make(const ColumnDescription& description) {
  const auto known =
      std::find_if(known_types.begin(), known_types.end(),
                   [&](const KnownType& type) { return type.id == description.type_id; });
  if (description.type_name == "citext") {
    return fail(refused(description,
                        "its type citext calls different keys equal; use a text column that is "
                        "generated as lower(…), and ask for keys in lower case"));
  }
  if (known == known_types.end()) {
    return fail(refused(description, fmt::format("its type {} is not understood; {}",
                                                 description.type_name, understood)));
  }
  if (!description.collation_is_deterministic) {
    return fail(
        refused(description, fmt::format("its collation '{}' calls different keys equal; only "
                                         "deterministic collations are supported",
                                         description.collation)));
  }
  if (known->type == KeyType::text && description.encoding == "SQL_ASCII") {
    return fail(refused(description,
                        "the database has the encoding SQL_ASCII, so its texts are bytes of an "
                        "unknown encoding; use a database in UTF8, or a bytea column"));
  }
  return KeyColumn(description.name, known->type, known->sql_type, known->blank_padded);
}

std::optional<std::string_view> KeyColumn::canonical(std::string_view spelling,
                                                     std::string& buffer) const {
  if (blank_padded_) {
    while (spelling.ends_with(' ')) spelling.remove_suffix(1);
  }
  return canonicalize(type_, spelling, buffer);
}

std::optional<std::string> KeyColumn::as_value(std::string_view canonical) const {
  switch (type_) {
    case KeyType::integer:
      if (!is_int8(canonical)) return std::nullopt;
      break;
    case KeyType::decimal:
      if (!is_numeric(canonical)) return std::nullopt;
      break;
    case KeyType::text:
      if (!is_postgres_text(canonical)) return std::nullopt;
      break;
    case KeyType::bytes:
      return "\\x" + to_hex(as_bytes(canonical));
    case KeyType::uuid:
      break;
  }
  return std::string(canonical);
}

}  // namespace guestlist::postgres
