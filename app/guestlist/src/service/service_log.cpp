#include "service/service_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>

namespace guestlist {
namespace {

std::string_view word(Severity severity) noexcept {
  switch (severity) {
    case Severity::good:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

}  // namespace

std::string format_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

void ServiceLog::operator()(Severity severity, std::string_view about,
                            std::string_view line) const {
  const std::string time = format_time(std::chrono::system_clock::now());
  std::string text;
  if (is_json_.load(std::memory_order_relaxed)) {
    boost::json::object object{{"time", time}, {"level", word(severity)}};
    if (!about.empty()) object["filter"] = about;
    object["message"] = line;
    text = boost::json::serialize(object) + '\n';
  } else {
    const std::string subject = about.empty() ? "" : fmt::format("{}: ", about);
    text = fmt::format("{} {:<7} {}{}\n", time, word(severity), subject, line);
  }
  // One call a line: stdio's lock keeps lines of several threads apart.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace guestlist
