#pragma once

// Which sections of a file's body were found to be intact. A section is verified when an answer is
// first taken from it, or all are at once; what was found is remembered, one byte a section.
//
// Distinct objects: safe. Shared objects: safe. Two threads may verify one section at the same
// time: both read the same bytes, come to the same result, and one of the two equal stores counts.
// Relaxed order is enough, since a state publishes nothing but itself: the bytes were there,
// unchanged, before the object was.

#include <atomic>
#include <cstdint>
#include <memory>

#include "filter_file_format.hpp"
#include "guestlist/base/bytes.hpp"

namespace guestlist::filter_file {

class SectionChecks {
 public:
  /// Requires: `table` has one checksum for each section of `body`; both outlive this object.
  SectionChecks(ByteView table, ByteView body);

  /// Whether every section that [offset, offset + length) touches holds; verifies those never
  /// touched before. Requires: the range lies in the body; length > 0.
  bool intact(std::uint64_t offset, std::uint64_t length) noexcept;
  bool intact_section(std::uint64_t section) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  /// Once true, it stays true, and there is nothing left to ask for.
  bool all_intact() const noexcept { return remaining_.load(std::memory_order_relaxed) == 0; }

 private:
  enum class State : std::uint8_t { unverified = 0, intact, corrupt };

  State verify(std::uint64_t section) noexcept;

  ByteView table_;
  ByteView body_;
  std::uint64_t count_;
  std::unique_ptr<std::atomic<State>[]> states_;
  std::atomic<std::uint64_t> remaining_;  ///< sections not yet found to be intact
};

}  // namespace guestlist::filter_file
