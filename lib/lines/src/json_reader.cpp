#include "guestlist/lines/json_reader.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstring>

namespace guestlist {
namespace {

std::vector<std::string> split_at_dots(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const auto dot = text.find('.');
    parts.emplace_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

JsonReader::JsonReader(BlockReader input, const std::string& field)
    : KeyReader(std::move(input)), field_(field), path_(split_at_dots(field)) {}

Error JsonReader::error(std::string_view what) const {
  return Error{make_error_code(Errc::corrupt),
               fmt::format("'{}' line {}: {}", input_.name(), line_, what)};
}

Result<void> JsonReader::take(std::string_view line) {
  ++line_;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  boost::system::error_code failed;
  boost::json::monotonic_resource memory;
  const boost::json::value document = boost::json::parse(line, failed, &memory);
  if (failed) return fail(error("not JSON: " + failed.message()));
  // A field whose own name has dots is found before the dots are taken as a path.
  const boost::json::value* at =
      document.is_object() ? document.as_object().if_contains(field_) : nullptr;
  if (at == nullptr) {
    at = &document;
    for (const std::string& part : path_) {
      at = at->is_object() ? at->as_object().if_contains(part) : nullptr;
      if (at == nullptr) return fail(error(fmt::format("no field '{}'", field_)));
    }
  }
  if (at->is_string()) {
    values_.emplace_back(at->as_string());
  } else if (at->is_int64()) {
    values_.push_back(fmt::format("{}", at->as_int64()));
  } else if (at->is_uint64()) {
    values_.push_back(fmt::format("{}", at->as_uint64()));
  } else if (at->is_double()) {
    // Its text is gone: `1.50` and `1.5`, or the digits of an integer above 64 bits, could not be
    // told apart any more, and a key would be stored under a spelling that nobody asks for.
    return fail(error(fmt::format(
        "field '{}' is a number that would lose digits; write it as a string", field_)));
  } else {
    return fail(error(fmt::format("field '{}' is neither a string nor a number", field_)));
  }
  return {};
}

Result<void> JsonReader::next(std::vector<std::string_view>& keys) {
  keys.clear();
  values_.clear();
  while (values_.empty() && !at_end_) {
    auto more = input_.read_more();
    if (!more) return fail(std::move(more).error());
    std::string_view text = input_.pending();
    const std::size_t available = text.size();
    while (!text.empty()) {
      const auto end = text.find('\n');
      if (end == std::string_view::npos && *more) break;
      if (auto taken = take(text.substr(0, end)); !taken) return taken;
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    input_.consume(available - text.size());
    if (*more) continue;
    auto next = input_.next_input();
    if (!next) return fail(std::move(next).error());
    at_end_ = !*next;
    line_ = 0;
  }
  keys.assign(values_.begin(), values_.end());
  return {};
}

}  // namespace guestlist
