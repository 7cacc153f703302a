#pragma once

// Keys from text: a key a line, a column of CSV, or a field of JSON lines. Batches of views, so
// that reading costs no copy where the key stands in the input as it is.
//
// Lines end with a line feed; the last one may lack it. A key is the line's exact bytes; `\r\n`
// counts as a line end only with `--crlf`.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/lines/block_reader.hpp"

namespace guestlist {

struct InputOptions {
  std::vector<std::string> paths;  ///< none: standard input
  std::string csv_column;          ///< a name of the header row, or a number from 1
  std::string json_field;          ///< a name, or names joined by dots
  bool crlf = false;       ///< a carriage return before the line feed is not part of the key
  bool skip_blank = true;  ///< blank lines are no keys
};

class KeyReader {
 public:
  /// Errors: of BlockReader; `invalid_argument` where two formats are asked for.
  static Result<std::unique_ptr<KeyReader>> open(const InputOptions& options,
                                                 std::size_t block = BlockReader::block_bytes);
  virtual ~KeyReader() = default;
  KeyReader(const KeyReader&) = delete;
  KeyReader& operator=(const KeyReader&) = delete;

  /// Replaces `keys` by the next ones; they are valid until the next call. Empty: the end.
  /// Errors: with the input's name and the line.
  virtual Result<void> next(std::vector<std::string_view>& keys) = 0;

  const BlockReader& input() const noexcept { return input_; }

 protected:
  explicit KeyReader(BlockReader input) noexcept : input_(std::move(input)) {}
  BlockReader input_;
};

}  // namespace guestlist
