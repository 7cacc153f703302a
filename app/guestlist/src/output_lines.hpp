#pragma once

// Standard output in large blocks, for calls that print millions of lines.

#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"

namespace guestlist {

class OutputLines {
 public:
  OutputLines() { buffer_.reserve(block_bytes + 4096); }

  void append(std::string_view part) { buffer_ += part; }
  void append(char part) { buffer_ += part; }
  /// After each batch of lines. Errors: `unwritable`, also where the reader of a pipe has gone.
  Result<void> flush_if_full() { return buffer_.size() < block_bytes ? Result<void>() : flush(); }
  Result<void> flush();

 private:
  static constexpr std::size_t block_bytes = 1 << 18;
  std::string buffer_;
};

}  // namespace guestlist
