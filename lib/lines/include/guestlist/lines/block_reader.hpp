#pragma once

// Reads files and pipes one after the other in large blocks, in bounded memory. What a parser has
// not consumed stays in front of what is read next, so a record that spans blocks comes in one
// piece.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"

namespace guestlist {

class BlockReader {
 public:
  static constexpr std::size_t block_bytes = 1 << 20;
  /// The longest record; beyond it the input is refused.
  static constexpr std::size_t max_record_bytes = 64 << 20;

  /// `-` is standard input. Errors: `not_found`, `unreadable`, of the first input.
  static Result<BlockReader> open(std::vector<std::string> paths, std::size_t block = block_bytes);
  BlockReader(BlockReader&& other) noexcept;
  BlockReader& operator=(BlockReader&& other) noexcept;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader();

  /// What is there and not consumed. Valid until the next `read_more`.
  std::string_view pending() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }
  /// Adds to what is pending. False: this input is at its end.
  /// Errors: `unreadable`; `too_large` where a record exceeds max_record_bytes.
  Result<bool> read_more();
  /// Goes on to the next input. False: there is none. Requires: the present one is at its end.
  Result<bool> next_input();

  const std::string& name() const noexcept { return paths_[at_]; }
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// The size of all inputs together; 0 where one of them is no regular file.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// Whether every input is a regular file, and so can be read twice.
  bool can_be_read_twice() const noexcept { return can_be_read_twice_; }

 private:
  BlockReader(std::vector<std::string> paths, std::size_t block);
  Result<void> open_current();
  void measure_inputs();
  void close_current() noexcept;

  std::vector<std::string> paths_;
  std::size_t block_;
  std::size_t at_ = 0;
  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t total_bytes_ = 0;
  bool can_be_read_twice_ = false;
};

}  // namespace guestlist
