#pragma once

// Keys in canonical form. Equality in a database is wider than equality of bytes: `007`, ` 7` and
// `+7` are one integer, a UUID has several spellings, `1.0` and `1.00` are one number. A filter
// works on bytes, so two keys that the database calls equal must come out as the same bytes here;
// otherwise a key that exists would be called absent under its other spelling. The converse is
// harmless: spellings that fall together cost at most a false positive.
//
// What does not parse has no canonical form: its verdict is `unknown`, and it passes.
//
// Source: PostgreSQL 15, input of integer, uuid, numeric and bytea. Threads: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace guestlist {

enum class KeyType : std::uint8_t {
  text,     ///< exact bytes
  bytes,    ///< exact bytes, or `\x` and hexadecimal digits for them, as PostgreSQL prints bytea
  integer,  ///< decimal digits of any length, sign and surrounding white space allowed
  uuid,     ///< lower case, 8-4-4-4-12
  decimal,  ///< no superfluous zeros; also `NaN`, `Infinity`, `-Infinity`
};

/// `text`, `bytes`, `int`, `uuid`, `decimal`.
std::string_view name(KeyType type) noexcept;
std::optional<KeyType> key_type_from_name(std::string_view name) noexcept;

/// The canonical form of `key`, which lies in `key` or in `buffer` and lives as long as both stay
/// unchanged; nothing where `key` is no spelling of a value of that type. A key that is canonical
/// already is returned as it is and costs no copy. Complexity: linear.
std::optional<std::string_view> canonicalize(KeyType type, std::string_view key,
                                             std::string& buffer);

}  // namespace guestlist
