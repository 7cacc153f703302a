#pragma once

// One field of JSON lines: an object a line. A string gives its characters as UTF-8, a whole number
// of up to 64 bits its digits; other numbers are refused, since their digits do not survive. `a.b`
// reaches into objects. Blank lines are skipped.
//
// Tested by: JsonReader.*, json_fuzz.

#include <deque>

#include "guestlist/lines/key_reader.hpp"
#include "guestlist/lines/line_reader.hpp"

namespace guestlist {

class JsonReader final : public KeyReader {
 public:
  JsonReader(BlockReader input, const std::string& field);

  /// Errors: `corrupt` with the line where it is no JSON object, has no such field, or the field is
  /// neither a string nor a number.
  Result<void> next(std::vector<std::string_view>& keys) override;

 private:
  Result<void> take(std::string_view line);
  Error error(std::string_view what) const;

  std::string field_;
  std::vector<std::string> path_;
  std::uint64_t line_ = 0;
  bool at_end_ = false;
  std::deque<std::string> values_;
};

}  // namespace guestlist
