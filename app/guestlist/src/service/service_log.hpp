#pragma once

// The service's lines on stderr: time, severity, what they are about, what happened; as text for
// people, or a JSON object a line.
//
// Distinct objects: safe. Shared objects: safe; lines are never mixed.

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "guestlist/port/finding.hpp"

namespace guestlist {

/// RFC 3339 in UTC, to the second: `2026-01-31T12:00:00Z`.
std::string format_time(std::chrono::system_clock::time_point time);

class ServiceLog {
 public:
  explicit ServiceLog(bool is_json) noexcept : is_json_(is_json) {}
  void set_json(bool is_json) noexcept { is_json_.store(is_json, std::memory_order_relaxed); }

  /// `about`: a filter's name, or empty for the service as a whole.
  void operator()(Severity severity, std::string_view about, std::string_view line) const;

 private:
  std::atomic<bool> is_json_;
};

}  // namespace guestlist
