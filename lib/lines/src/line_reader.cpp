#include "guestlist/lines/line_reader.hpp"

#include <cstring>

namespace guestlist {

void LineReader::take(std::string_view line, std::vector<std::string_view>& keys) const {
  if (crlf_ && line.ends_with('\r')) line.remove_suffix(1);
  if (!line.empty() || !skip_blank_) keys.push_back(line);
}

// One block a call: every line that is complete in it, and the last one of an input also without
// its end.
Result<void> LineReader::next(std::vector<std::string_view>& keys) {
  keys.clear();
  while (keys.empty() && !at_end_) {
    auto more = input_.read_more();
    if (!more) return fail(std::move(more).error());
    const std::string_view text = input_.pending();
    std::size_t begin = 0;
    while (begin < text.size()) {
      const void* const found = std::memchr(text.data() + begin, '\n', text.size() - begin);
      if (found == nullptr) break;
      const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
      take(text.substr(begin, end - begin), keys);
      begin = end + 1;
    }
    if (!*more && begin < text.size()) {
      take(text.substr(begin), keys);
      begin = text.size();
    }
    input_.consume(begin);
    if (*more) continue;
    // The views lie in the buffer, which the next input would overwrite: hand them out first.
    if (!keys.empty()) return {};
    auto next = input_.next_input();
    if (!next) return fail(std::move(next).error());
    at_end_ = !*next;
  }
  return {};
}

}  // namespace guestlist
