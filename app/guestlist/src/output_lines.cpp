#include "output_lines.hpp"

#include <unistd.h>

#include <cerrno>

namespace guestlist {

Result<void> OutputLines::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(Errc::unwritable, "cannot write to standard output"));
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
  return {};
}

}  // namespace guestlist
