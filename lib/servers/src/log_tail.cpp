#include "log_tail.hpp"

#include <deque>
#include <fstream>

namespace guestlist::servers {

std::string log_tail(const std::string& path) {
  constexpr std::size_t line_limit = 6;
  std::deque<std::string> lines;
  std::ifstream log(path);
  for (std::string line; std::getline(log, line);) {
    if (line.empty()) continue;
    lines.push_back(line);
    if (lines.size() > line_limit) lines.pop_front();
  }
  std::string joined;
  for (const std::string& line : lines) joined += (joined.empty() ? "" : " | ") + line;
  return joined.empty() ? "(nothing)" : joined;
}

}  // namespace guestlist::servers
