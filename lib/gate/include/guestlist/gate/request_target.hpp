#pragma once

// What a request asks for, read once and in one way: the raw target is split on its raw `/`, and
// each segment is decoded exactly once, so `%2F` stays inside its segment.
//
// Proxies and frameworks normalise targets in many ways: they merge slashes, resolve dot segments,
// decode twice, cut `;parameters`, trim. Where a target would come out differently under one of
// these, it is `odd`: nobody can say which key the upstream will see, and it passes.
//
// Threads: pure functions. Source: RFC 3986, RFC 9112 section 3.2. Tested by: RequestTarget.*.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guestlist {

struct RequestTarget {
  std::vector<std::string> segments = {};  ///< decoded; of `/a/b` there are two, of `/` one, empty
  std::vector<std::pair<std::string, std::string>> query = {};  ///< decoded, in order

  /// Nothing where the target is odd.
  static std::optional<RequestTarget> parse(std::string_view raw);
  /// The value of a parameter that is there once.
  std::optional<std::string_view> parameter(std::string_view name) const;
};

/// Whether every reader sees this text as it is: valid UTF-8 without control characters, `%`, `\`,
/// and white space at either end.
bool is_plain(std::string_view decoded) noexcept;

}  // namespace guestlist
