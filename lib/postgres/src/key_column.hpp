#pragma once

// A key column: how its values are canonical keys, and which keys may be looked up in it.
//
// Canonical keys must be no narrower than the column's own equality (docs/decisions/0301), so each
// type of PostgreSQL is either handled here or refused by its name. Threads: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"
#include "guestlist/hash/key_type.hpp"

namespace guestlist::postgres {

/// What the catalog says of a column. A domain counts as the type under it.
struct ColumnDescription {
  std::string name = {};
  std::uint32_t type_id = 0;
  std::string type_name = {};
  std::string collation = {};
  bool collation_is_deterministic = true;
  /// The database's.
  std::string encoding = {};
};

class KeyColumn {
 public:
  /// Errors: `invalid_argument` where the column's equality is not that of any key type.
  static Result<KeyColumn> make(const ColumnDescription& description);

  const std::string& name() const noexcept { return name_; }
  KeyType type() const noexcept { return type_; }
  /// What values are compared as: its index is used, and no value of the column is out of its
  /// range.
  std::string_view sql_type() const noexcept { return sql_type_; }

  /// As `canonicalize`, and without the trailing blanks that `char(n)` does not compare.
  std::optional<std::string_view> canonical(std::string_view spelling, std::string& buffer) const;

  /// A canonical key as text that the server reads as `sql_type`; nothing where that type has no
  /// such value, and the column none either.
  std::optional<std::string> as_value(std::string_view canonical) const;

  friend bool operator==(const KeyColumn&, const KeyColumn&) = default;

 private:
  KeyColumn(std::string name, KeyType type, std::string_view sql_type, bool blank_padded)
      : name_(std::move(name)), type_(type), sql_type_(sql_type), blank_padded_(blank_padded) {}

  std::string name_;
  KeyType type_;
  std::string_view sql_type_;
  bool blank_padded_;
};

}  // namespace guestlist::postgres
