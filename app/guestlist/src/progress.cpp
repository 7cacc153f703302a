#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "guestlist/base/units.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

constexpr int bar_cells = 20;

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * bar_cells);
  return "[" + std::string(filled, '=') + std::string(bar_cells - filled, ' ') + "]";
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, Unit unit,
                   WithoutTerminal without_terminal)
    : what_(std::move(what)),
      total_(total),
      unit_(unit),
      is_terminal_(::isatty(STDERR_FILENO) != 0),
      interval_(is_terminal_                                 ? 100ms
                : without_terminal == WithoutTerminal::lines ? 2000ms
                                                             : 0ms),
      began_(std::chrono::steady_clock::now()),
      last_(began_) {}

Progress::~Progress() {
  if (is_terminal_) std::fputs("\r\033[K", stderr);
}

std::string Progress::amount(double value) const {
  const auto whole = static_cast<std::uint64_t>(std::max(0.0, value));
  return unit_ == Unit::bytes ? format_bytes(whole) : format_count(whole);
}

void Progress::operator()(std::uint64_t done) {
  if (interval_ == 0ms) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < interval_) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = static_cast<double>(done) / seconds;
  std::string line = fmt::format("  {}: {}", what_, amount(static_cast<double>(done)));
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const double left = static_cast<double>(total_ - std::min(total_, done)) / rate;
    line = fmt::format("  {} {} {:3.0f} %, {} left", what_, bar(share), share * 100,
                       format_seconds(left));
  }
  fmt::print(stderr, "{}{}, {}/s{}", is_terminal_ ? "\r\033[K" : "", line, amount(rate),
             is_terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace guestlist
