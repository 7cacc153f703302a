#pragma once

// A place in the changes of a source. Positions of one origin are ordered; those of different
// origins (another server, another timeline, a file that was replaced) have nothing to do with each
// other.
//
// Format: `origin@offset`, the offset in decimal. The origin may hold any character but a line
// feed. It is kept in filter files, in journals and beside the bits in Redis.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace guestlist {

struct SourcePosition {
  std::string origin = {};
  std::uint64_t offset = 0;

  /// Whether everything up to `other` is before this.
  bool covers(const SourcePosition& other) const noexcept {
    return origin == other.origin && offset >= other.offset;
  }
  std::string text() const { return origin + '@' + std::to_string(offset); }
  static std::optional<SourcePosition> parse(std::string_view text);

  friend bool operator==(const SourcePosition&, const SourcePosition&) noexcept = default;
};

inline std::optional<SourcePosition> SourcePosition::parse(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  SourcePosition position{std::string(text.substr(0, at)), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, position.offset);
  if (error != std::errc() || stop != end) return std::nullopt;
  return position;
}

}  // namespace guestlist
