#pragma once

// A route's text, parsed: methods, a pattern for each segment, one for each parameter, one for a
// header field; and what it finds in a request.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/gate/request_target.hpp"
#include "guestlist/hash/key_type.hpp"

namespace guestlist::gate {

/// `before{name:type}after`, or text alone.
struct Pattern {
  std::string before = {};
  std::string after = {};
  std::string place = {};  ///< name; empty: text alone, in `before`
  std::optional<KeyType> type = {};
  bool is_list = false;

  /// What stands in the place. Nothing where the text does not fit, or nothing stands there.
  std::optional<std::string_view> find(std::string_view text) const noexcept;
};

struct NamedPattern {
  std::string name = {};
  Pattern pattern = {};
};

struct RoutePattern {
  std::vector<std::string> methods = {};
  std::vector<Pattern> segments = {};
  std::vector<NamedPattern> query = {};
  std::optional<NamedPattern> header = {};

  /// Errors: `invalid_argument`, with where in the text.
  static Result<RoutePattern> parse(std::string_view match, std::string_view header);
  /// The places in order: of the path, the query, the header.
  std::vector<const Pattern*> places() const;
  bool allows(std::string_view method) const noexcept;
  /// Whether every request that `other` matches is matched by this one.
  bool covers(const RoutePattern& other) const noexcept;
};

}  // namespace guestlist::gate
