#pragma once

// One line of `COPY … TO STDOUT` in text format: fields between tabs, with C's escapes.
//
// Source: PostgreSQL 15, "COPY", Text Format.

#include <string>
#include <string_view>
#include <vector>

namespace guestlist::postgres {

/// Distinct objects: safe. Shared objects: one thread at a time.
class CopyLine {
 public:
  /// False where the line is none, or holds a NULL.
  bool parse(std::string_view line);
  /// Of the last line; they live until the next call, and as long as the line does.
  const std::vector<std::string_view>& fields() const noexcept { return fields_; }

 private:
  bool append_unescaped(std::string_view escaped);

  std::string unescaped_;
  std::vector<std::string_view> fields_;
};

}  // namespace guestlist::postgres
