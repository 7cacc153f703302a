#include "guestlist/lines/csv_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace guestlist {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

Error CsvReader::error(std::string_view what) const {
  return Error{make_error_code(Errc::corrupt),
               fmt::format("'{}' line {}: {}", input_.name(), line_, what)};
}

std::string_view CsvReader::unquoted(std::string_view quoted) {
  if (quoted.find('"') == std::string_view::npos) return quoted;
  std::string& plain = unquoted_.emplace_back();
  for (std::size_t at = 0; at < quoted.size(); ++at) {
    plain += quoted[at];
    // Quotes inside come doubled; parse_row has made sure of it.
    if (quoted[at] == '"') ++at;
  }
  return plain;
}

CsvReader::Parse CsvReader::parse_row(std::string_view text, bool is_last, Row& row) {
  row.fields.clear();
  row.lines = 0;
  std::size_t at = 0;
  while (true) {
    std::string_view field;
    if (at < text.size() && text[at] == '"') {
      std::size_t end = at + 1;
      while (true) {
        end = text.find('"', end);
        if (end == std::string_view::npos) return is_last ? Parse::malformed : Parse::needs_more;
        if (end + 1 == text.size() && !is_last) return Parse::needs_more;
        if (end + 1 == text.size() || text[end + 1] != '"') break;
        end += 2;
      }
      const std::string_view quoted = text.substr(at + 1, end - at - 1);
      row.lines += static_cast<std::size_t>(std::count(quoted.begin(), quoted.end(), '\n'));
      field = unquoted(quoted);
      at = end + 1;
    } else {
      const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
      if (end == text.size() && !is_last) return Parse::needs_more;
      field = text.substr(at, end - at);
      const bool ends_row = end == text.size() || text[end] == '\n';
      if (ends_row && field.ends_with('\r')) field.remove_suffix(1);
      at = end;
    }
    row.fields.push_back(field);
    if (at < text.size() && text[at] == '\r' && at + 1 == text.size() && !is_last)
      return Parse::needs_more;
    if (text.substr(at).starts_with("\r\n")) ++at;
    if (at >= text.size()) {
      if (!is_last) return Parse::needs_more;
      break;
    }
    const char delimiter = text[at++];
    if (delimiter == '\n') {
      ++row.lines;
      break;
    }
    if (delimiter != ',') return Parse::malformed;
  }
  row.size = at;
  return Parse::row;
}

Result<void> CsvReader::take_header(const Row& row) {
  column_count_ = row.fields.size();
  const auto found = std::find(row.fields.begin(), row.fields.end(), column_);
  if (found != row.fields.end()) {
    column_at_ = static_cast<std::size_t>(found - row.fields.begin());
    return {};
  }
  std::size_t number = 0;
  const auto [end, failed] =
      std::from_chars(column_.data(), column_.data() + column_.size(), number);
  if (failed == std::errc() && end == column_.data() + column_.size() && number >= 1 &&
      number <= row.fields.size()) {
    column_at_ = number - 1;
    return {};
  }
  return fail(Errc::invalid_argument,
              fmt::format("'{}' has no column '{}'; its columns are: {}", input_.name(), column_,
                          fmt::join(row.fields, ", ")));
}

Result<void> CsvReader::next(std::vector<std::string_view>& keys) {
  keys.clear();
  unquoted_.clear();
  Row row;
  while (keys.empty() && !at_end_) {
    auto more = input_.read_more();
    if (!more) return fail(std::move(more).error());
    std::string_view text = input_.pending();
    const std::size_t available = text.size();
    if (column_count_ == 0 && text.starts_with(byte_order_mark))
      text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
      const Parse parsed = parse_row(text, !*more, row);
      if (parsed == Parse::needs_more) break;
      if (parsed == Parse::malformed)
        return fail(error("a quote is not closed, or text follows a closed one"));
      text.remove_prefix(row.size);
      const bool is_blank = row.fields.size() == 1 && row.fields.front().empty();
      if (column_count_ == 0) {
        if (auto taken = take_header(row); !taken) return taken;
      } else if (!is_blank || column_count_ == 1) {
        if (row.fields.size() != column_count_) {
          return fail(error(
              fmt::format("{} fields where the header has {}", row.fields.size(), column_count_)));
        }
        if (!row.fields[column_at_].empty()) keys.push_back(row.fields[column_at_]);
      }
      line_ += row.lines;
    }
    input_.consume(available - text.size());
    if (*more) continue;
    // The views lie in the buffer, which the next input would overwrite: hand them out first.
    if (!keys.empty()) return {};
    if (column_count_ == 0) {
      return fail(Errc::invalid_argument,
                  fmt::format("'{}' is empty: a header row that names column '{}' is needed",
                              input_.name(), column_));
    }
    auto next = input_.next_input();
    if (!next) return fail(std::move(next).error());
    at_end_ = !*next;
    column_count_ = 0;
    line_ = 1;
  }
  return {};
}

}  // namespace guestlist
