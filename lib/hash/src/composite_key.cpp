#include "guestlist/hash/composite_key.hpp"

#include <cassert>

namespace guestlist {
namespace {

constexpr char separator = ',';
constexpr char escape = '\\';

}  // namespace

std::string join_key(std::span<const std::string> parts) {
  assert(!parts.empty());
  if (parts.size() == 1) return parts.front();
  std::string key;
  for (const std::string& part : parts) {
    if (&part != parts.data()) key += separator;
    for (const char c : part) {
      if (c == separator || c == escape) key += escape;
      key += c;
    }
  }
  return key;
}

std::optional<std::vector<std::string>> split_key(std::string_view key, std::size_t count) {
  if (count == 1) return std::vector{std::string(key)};
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < key.size(); ++at) {
    if (key[at] == separator) {
      parts.emplace_back();
      continue;
    }
    if (key[at] == escape) {
      ++at;
      if (at == key.size() || (key[at] != separator && key[at] != escape)) return std::nullopt;
    }
    parts.back() += key[at];
  }
  if (parts.size() != count) return std::nullopt;
  return parts;
}

}  // namespace guestlist
