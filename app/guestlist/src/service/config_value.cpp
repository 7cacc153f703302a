#include "service/config_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>

namespace guestlist {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 5> time_units = {
    {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
constexpr std::array<Unit, 5> byte_units = {
    {{"B", 1}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}, {"TiB", 1099511627776.}}};

/// `3s` with the units of time is 3.
template <std::size_t count>
std::optional<double> with_unit(std::string_view text, const std::array<Unit, count>& units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view name(stop, static_cast<std::size_t>(end - stop));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : units)
    if (name == unit.name) return number * unit.factor;
  return std::nullopt;
}

/// Insertions, deletions and replacements from one word to the other (Levenshtein 1966).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string ConfigPlace::text() const {
  return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column);
}

tl::unexpected<Error> ConfigValue::refuse(const std::string& expected) const {
  const std::string shown = kind == Kind::text ? '"' + content + '"' : content;
  return fail(Errc::invalid_argument, fmt::format("{}: {} = {} is not what is expected here: {}",
                                                  place.text(), name, shown, expected));
}

Result<void> ConfigValue::read(std::string& into) const {
  if (kind != Kind::text) return refuse("a text in quotes");
  into = content;
  return {};
}

Result<void> ConfigValue::read(bool& into) const {
  if (kind != Kind::flag) return refuse("true or false");
  into = flag;
  return {};
}

Result<void> ConfigValue::read(std::vector<std::string>& into) const {
  into.clear();
  if (kind == Kind::text) {
    into.push_back(content);
    return {};
  }
  const bool are_texts =
      kind == Kind::list && !items.empty() &&
      std::ranges::all_of(items, [](const ConfigValue& item) { return item.kind == Kind::text; });
  if (!are_texts) return refuse("a text in quotes, or a list of them");
  for (const ConfigValue& item : items) into.push_back(item.content);
  return {};
}

Result<void> ConfigValue::read(std::uint64_t& into, std::uint64_t least, std::uint64_t most) const {
  if (kind != Kind::integer || integer < 0 || static_cast<std::uint64_t>(integer) < least ||
      static_cast<std::uint64_t>(integer) > most)
    return refuse(fmt::format("a whole number from {} to {}", least, most));
  into = static_cast<std::uint64_t>(integer);
  return {};
}

Result<void> ConfigValue::read(double& into, double least, double most) const {
  const double value = kind == Kind::integer ? static_cast<double>(integer) : number;
  const bool is_number = kind == Kind::integer || kind == Kind::number;
  if (!is_number || !(value >= least && value <= most))
    return refuse(fmt::format("a number from {} to {}", least, most));
  into = value;
  return {};
}

Result<void> ConfigValue::read(Duration& into, Duration least) const {
  std::optional<double> seconds;
  if (kind == Kind::integer) seconds = static_cast<double>(integer);
  if (kind == Kind::number) seconds = number;
  if (kind == Kind::text) seconds = with_unit(content, time_units);
  constexpr double most = 1e9;
  if (!seconds || !(*seconds <= most))
    return refuse(R"(a time such as "500ms", "3s", "5min", "24h")");
  const auto read = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
  if (read < least) {
    return refuse(fmt::format("at least {} s", std::chrono::duration<double>(least).count()));
  }
  into = read;
  return {};
}

Result<void> ConfigValue::read_bytes(std::uint64_t& into) const {
  std::optional<double> bytes;
  if (kind == Kind::integer && integer >= 0) bytes = static_cast<double>(integer);
  if (kind == Kind::text) bytes = with_unit(content, byte_units);
  constexpr double most = 1e18;
  if (!bytes || !(*bytes <= most)) return refuse(R"(a size such as "64MiB", "4GiB")");
  into = static_cast<std::uint64_t>(*bytes);
  return {};
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  // More than a third of the word is another word.
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t between = distance(word, candidate);
    if (between >= least) continue;
    least = between;
    best = candidate;
  }
  return best;
}

Result<std::string> substitute_environment(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto dollar = text.find('$');
    result.append(text.substr(0, dollar));
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      result += '$';
      text.remove_prefix(1);
      continue;
    }
    const auto end = text.find('}');
    if (!text.starts_with('{') || end == std::string_view::npos) {
      result += '$';
      continue;
    }
    const std::string_view inside = text.substr(1, end - 1);
    const auto colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    const char* const value = std::getenv(name.c_str());
    if (value != nullptr) {
      result += value;
    } else if (colon != std::string_view::npos) {
      result += inside.substr(colon + 2);
    } else {
      return fail(
          Errc::invalid_argument,
          fmt::format("the environment has no {0}; set it, or write ${{{0}:-value}}", name));
    }
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace guestlist
