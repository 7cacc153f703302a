#include "numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "guestlist/base/units.hpp"
#include "guestlist/filter/filter_plan.hpp"

namespace guestlist {
namespace {

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<std::uint64_t> parse_items(const std::string& text) {
  std::string digits = text;
  std::erase(digits, '_');
  const auto value = parse_double(digits);
  if (!value || !std::isfinite(*value) || *value < 1 || *value != std::floor(*value)) {
    return fail(
        Errc::invalid_argument,
        fmt::format("--items '{}': it must be a whole number of at least 1, such as 1000000 or 1e6",
                    text));
  }
  if (*value > static_cast<double>(FilterPlan::max_items)) {
    return fail(Errc::too_large, fmt::format("--items '{}': at most {} items fit a filter", text,
                                             format_count(FilterPlan::max_items)));
  }
  return static_cast<std::uint64_t>(*value);
}

Result<double> parse_fpr(const std::string& text) {
  const bool is_percent = text.ends_with('%');
  const auto value =
      parse_double(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)));
  const double fpr = value ? (is_percent ? *value / 100 : *value) : std::nan("");
  if (!(fpr >= FilterPlan::min_fpr && fpr <= FilterPlan::max_fpr)) {
    return fail(Errc::invalid_argument,
                fmt::format("--fpr '{}': it must be a rate from {} to {}, such as 0.01", text,
                            FilterPlan::min_fpr, FilterPlan::max_fpr));
  }
  return fpr;
}

Result<PlannedSize> parse_size(const std::string& items, const std::string& fpr) {
  if (items.empty()) {
    return fail(Errc::invalid_argument,
                "--items is missing: say how many keys the filter is planned for");
  }
  const auto parsed_items = parse_items(items);
  if (!parsed_items) return fail(parsed_items.error());
  const auto parsed_fpr = parse_fpr(fpr);
  if (!parsed_fpr) return fail(parsed_fpr.error());
  return PlannedSize{*parsed_items, *parsed_fpr};
}

}  // namespace guestlist
