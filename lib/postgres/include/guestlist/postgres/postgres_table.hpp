#pragma once

// Which table holds the keys that exist, and what a lookup gives of a row.

#include <string>
#include <vector>

namespace guestlist {

struct PostgresTable {
  /// Empty: where the session's search_path finds the table.
  std::string schema = {};
  /// A table, also a partitioned one, or a view. Names are exact: `Products` is not `products`.
  std::string table = {};
  /// One, or several that make up the key (composite_key.hpp). A row in which one is NULL has no
  /// key.
  std::vector<std::string> key_columns = {};
  /// SQL that gives a row's value as text, as in `json_build_object('id', id, 'price', price)`; a
  /// value of NULL is an empty text. Empty: the row as a JSON object. It comes from whoever
  /// configures the service, and is sent as it stands.
  std::string value_expression = {};
};

}  // namespace guestlist
