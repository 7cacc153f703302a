#pragma once

// What a request to the JSON interface says, read and refused in one way, and how it is answered.
//
// Threads: pure functions and plain values.

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/guard/decision.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/http/http_message.hpp"

namespace guestlist {

/// Path and query of a request, decoded.
class ApiTarget {
 public:
  /// Nothing where it is no path, or where % is not followed by two hexadecimal digits.
  static std::optional<ApiTarget> parse(std::string_view raw);

  /// Whether the path is as `pattern`; `{name}` in it takes one segment that is not empty.
  bool matches(std::string_view pattern, std::string& name) const;
  std::optional<std::string_view> parameter(std::string_view name) const;
  std::vector<std::string> parameters(std::string_view name) const;

 private:
  std::vector<std::string> segments_;
  std::vector<std::pair<std::string, std::string>> query_;
};

struct ApiKey {
  std::string shown;  ///< as it was asked for
  std::optional<std::string> canonical;
};

/// A key of one value a column. Errors: `invalid_argument` where the number of values is not the
/// number of columns.
Result<ApiKey> read_key(std::span<const std::string> values, const std::vector<KeyType>& columns);

/// Of `{"keys": [...]}`: texts or whole numbers, or lists of them where the key has several
/// columns. Errors: `invalid_argument`, with what is expected.
Result<std::vector<ApiKey>> read_keys(std::string_view body, const std::vector<KeyType>& columns);

/// Of `{"mode": "shadow" | "enforce" | "pass" | null}`; null: each route's own.
Result<std::optional<Mode>> read_mode(std::string_view body);

HttpResponse json_response(unsigned status, const boost::json::object& body);
/// RFC 9457.
HttpResponse problem(unsigned status, std::string_view detail);

}  // namespace guestlist
