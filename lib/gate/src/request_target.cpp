#include "guestlist/gate/request_target.hpp"

#include <algorithm>

#include "guestlist/http/http_message.hpp"

namespace guestlist {
namespace {

/// The bytes of the UTF-8 character that `text` begins with; 0 where it begins with none (RFC
/// 3629).
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second > 0x9F;
  const bool is_too_large = first == 0xF4 && second > 0x8F;
  return is_overlong || is_surrogate || is_too_large ? 0 : size;
}

bool is_valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

/// One decoded part of the target; nothing where it is odd.
std::optional<std::string> decode(std::string_view raw) {
  auto decoded = percent_decode(raw);
  if (!decoded || !is_plain(*decoded)) return std::nullopt;
  return decoded;
}

bool read_path(std::string_view path, std::vector<std::string>& segments) {
  path.remove_prefix(1);
  while (true) {
    const auto slash = path.find('/');
    const std::string_view raw = path.substr(0, slash);
    // `;` begins parameters that some servers cut off.
    if (raw.find(';') != std::string_view::npos) return false;
    auto segment = decode(raw);
    const bool is_last = slash == std::string_view::npos;
    if (!segment || *segment == "." || *segment == "..") return false;
    // An empty segment within is a double slash; at the end it is a slash at the end.
    if (segment->empty() && !is_last) return false;
    segments.push_back(*std::move(segment));
    if (is_last) return true;
    path.remove_prefix(slash + 1);
  }
}

bool read_query(std::string_view text, std::vector<std::pair<std::string, std::string>>& query) {
  while (!text.empty()) {
    const auto end = text.find('&');
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (raw.empty()) continue;
    // Forms read `+` as a space and some servers `;` as `&`; others do not.
    if (raw.find_first_of("+;") != std::string_view::npos) return false;
    const auto equals = raw.find('=');
    auto name = decode(raw.substr(0, equals));
    auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                  : decode(raw.substr(equals + 1));
    if (!name || !value) return false;
    query.emplace_back(*std::move(name), *std::move(value));
  }
  return true;
}

}  // namespace

bool is_plain(std::string_view decoded) noexcept {
  if (decoded.empty()) return true;
  if (decoded.front() == ' ' || decoded.back() == ' ') return false;
  // A `%` that is left would be decoded by whoever decodes twice, a `\` is a slash to some.
  const bool has_odd =
      std::ranges::any_of(decoded, [](char c) { return is_control(c) || c == '%' || c == '\\'; });
  return !has_odd && is_valid_utf8(decoded);
}

std::optional<RequestTarget> RequestTarget::parse(std::string_view raw) {
  if (!raw.starts_with('/') || raw.find('#') != std::string_view::npos) return std::nullopt;
  RequestTarget target;
  const auto mark = raw.find('?');
  if (!read_path(raw.substr(0, mark), target.segments)) return std::nullopt;
  if (mark != std::string_view::npos && !read_query(raw.substr(mark + 1), target.query))
    return std::nullopt;
  return target;
}

std::optional<std::string_view> RequestTarget::parameter(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : query) {
    if (key != name) continue;
    // Some take the first, some the last.
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

}  // namespace guestlist
