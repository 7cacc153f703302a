#include "copy_line.hpp"

namespace guestlist::postgres {
namespace {

/// What stands after a backslash, as COPY TO writes it; zero where it writes no such thing.
char unescape(char c) noexcept {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
      return '\\';
    default:
      return '\0';
  }
}

}  // namespace

bool CopyLine::parse(std::string_view line) {
  fields_.clear();
  unescaped_.clear();
  // Escapes only shrink: reserved, the buffer does not move while fields point into it.
  unescaped_.reserve(line.size());
  if (!line.ends_with('\n')) return false;
  line.remove_suffix(1);
  while (true) {
    const std::size_t tab = line.find('\t');
    const std::string_view field = line.substr(0, tab);
    if (field.find('\\') == std::string_view::npos) {
      fields_.push_back(field);
    } else if (!append_unescaped(field)) {
      return false;
    }
    if (tab == std::string_view::npos) return true;
    line.remove_prefix(tab + 1);
  }
}

bool CopyLine::append_unescaped(std::string_view escaped) {
  const std::size_t begin = unescaped_.size();
  for (std::size_t at = 0; at < escaped.size(); ++at) {
    char c = escaped[at];
    if (c == '\\') {
      ++at;
      c = at < escaped.size() ? unescape(escaped[at]) : '\0';
      if (c == '\0') return false;
    }
    unescaped_ += c;
  }
  fields_.push_back(std::string_view(unescaped_).substr(begin));
  return true;
}

}  // namespace guestlist::postgres
