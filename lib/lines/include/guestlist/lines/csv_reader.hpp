#pragma once

// One column of CSV with a header row, as RFC 4180 has it: fields in double quotes may hold commas,
// line ends and doubled quotes; rows end with LF or CRLF; a byte order mark is skipped. Every input
// has its own header.
//
// Tested by: CsvReader.*, csv_fuzz.

#include <deque>

#include "guestlist/lines/key_reader.hpp"

namespace guestlist {

class CsvReader final : public KeyReader {
 public:
  /// `column` is a name of the header row, or a number from 1.
  CsvReader(BlockReader input, std::string column) noexcept
      : KeyReader(std::move(input)), column_(std::move(column)) {}

  /// Errors: `invalid_argument` where the column is missing, with those that are there; `corrupt`
  /// with the line where a row has another number of fields or a quote is not closed.
  Result<void> next(std::vector<std::string_view>& keys) override;

 private:
  struct Row {
    std::vector<std::string_view> fields;
    std::size_t size = 0;   ///< bytes, line end included
    std::size_t lines = 0;  ///< line ends in it
  };
  enum class Parse : std::uint8_t { row, needs_more, malformed };

  Parse parse_row(std::string_view text, bool is_last, Row& row);
  std::string_view unquoted(std::string_view quoted);
  Result<void> take_header(const Row& row);
  Error error(std::string_view what) const;

  std::string column_;
  std::size_t column_at_ = 0;
  std::size_t column_count_ = 0;  ///< 0: the header has not been read
  std::uint64_t line_ = 1;
  bool at_end_ = false;
  std::deque<std::string> unquoted_;  ///< fields that do not stand in the input as they are
};

}  // namespace guestlist
