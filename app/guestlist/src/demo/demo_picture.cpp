// The demo's result as an SVG picture: three pairs of bars, readable on light and dark pages.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "demo/demo_report.hpp"
#include "guestlist/base/units.hpp"

namespace guestlist::demo {
namespace {

constexpr int width = 760;
constexpr int bar_left = 190;
constexpr int bar_width = 380;
constexpr int bar_height = 22;

struct Bar {
  std::string_view label;
  double value;
  std::string text;
  std::string_view style;
};

std::string bar(const Bar& bar, double largest, int y) {
  const double share = largest > 0 ? bar.value / largest : 0;
  // A sliver stays visible, so that "few" does not look like "none".
  const int length =
      bar.value > 0 ? std::max(2, static_cast<int>(std::lround(share * bar_width))) : 0;
  return fmt::format(R"(<text class="label" x="{}" y="{}" text-anchor="end">{}</text>)"
                     R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="3"/>)"
                     R"(<text class="value" x="{}" y="{}">{}</text>)"
                     "\n",
                     bar_left - 10, y + 16, bar.label, bar.style, bar_left, y, length, bar_height,
                     bar_left + length + 8, y + 16, bar.text);
}

std::string pair_of_bars(std::string_view title, double without, const std::string& without_text,
                         double with, const std::string& with_text, int y) {
  const double largest = std::max(without, with);
  return fmt::format(R"(<text class="title" x="24" y="{}">{}</text>)"
                     "\n",
                     y, title) +
         bar({"without guard", without, without_text, "without"}, largest, y + 12) +
         bar({"with guard", with, with_text, "with"}, largest, y + 40);
}

}  // namespace

std::string to_svg(const DemoReport& report) {
  const Phase& off = report.without_guard;
  const Phase& on = report.with_guard;
  const auto microseconds = [](double value) { return format_seconds(value / 1e6); };
  constexpr int height = 430;
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
      R"(aria-label="Database queries and latency under an attack, without and with guestlist">)"
      "\n<style>"
      "text{{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}}"
      ".head{{font-size:19px;font-weight:600}}.sub,.foot{{font-size:13px;fill:#59636e}}"
      ".title{{font-size:14px;font-weight:600}}.label,.value{{font-size:13px}}"
      ".page{{fill:#ffffff}}.without{{fill:#d1643f}}.with{{fill:#2f7d5b}}"
      "@media(prefers-color-scheme:dark){{text{{fill:#f0f6fc}}.sub,.foot{{fill:#9198a1}}.page{{"
      "fill:#0d1117}}"
      ".without{{fill:#e8835e}}.with{{fill:#52b788}}}}"
      "</style>\n",
      width, height);
  svg += fmt::format(R"(<rect class="page" width="{}" height="{}" rx="8"/>)"
                     "\n",
                     width, height);
  svg += fmt::format(
      R"(<text class="head" x="24" y="38">{} requests, {:.0f} % of them for names that do not exist</text>)"
      R"(<text class="sub" x="24" y="60">{} Debian packages in SQLite, over real sockets; the same requests twice</text>)"
      "\n",
      format_count(on.load.requests),
      100.0 * static_cast<double>(on.load.absent) / static_cast<double>(on.load.requests),
      format_count(report.packages));
  svg += pair_of_bars("Database lookups of names that do not exist",
                      static_cast<double>(off.absent_lookups), format_count(off.absent_lookups),
                      static_cast<double>(on.absent_lookups), format_count(on.absent_lookups), 96);
  svg += pair_of_bars("Latency of names that exist, 99th percentile", off.load.existing.p99_us,
                      microseconds(off.load.existing.p99_us), on.load.existing.p99_us,
                      microseconds(on.load.existing.p99_us), 194);
  svg += pair_of_bars("Requests a second", off.load.requests_per_second(),
                      format_count(static_cast<std::uint64_t>(off.load.requests_per_second())),
                      on.load.requests_per_second(),
                      format_count(static_cast<std::uint64_t>(on.load.requests_per_second())), 292);
  svg += fmt::format(
      R"(<text class="foot" x="24" y="402">Existing names wrongly rejected: {}. False positives: {:.2f} % measured, {:.2f} % asked. Filter: {}.</text>)"
      "\n</svg>\n",
      on.load.existing_rejected, report.measured_fpr * 100, report.asked_fpr * 100,
      format_bytes(report.filter_bytes));
  return svg;
}

}  // namespace guestlist::demo
