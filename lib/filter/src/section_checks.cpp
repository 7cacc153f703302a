#include "section_checks.hpp"

#include <algorithm>
#include <cassert>

namespace guestlist::filter_file {

SectionChecks::SectionChecks(ByteView table, ByteView body)
    : table_(table),
      body_(body),
      count_(section_count(body.size())),
      states_(std::make_unique<std::atomic<State>[]>(count_)),
      remaining_(count_) {
  assert(table.size() == count_ * checksum_bytes);
}

bool SectionChecks::intact(std::uint64_t offset, std::uint64_t length) noexcept {
  assert(length > 0 && offset < body_.size() && length <= body_.size() - offset);
  const std::uint64_t last = (offset + length - 1) / section_bytes;
  for (std::uint64_t section = offset / section_bytes; section <= last; ++section) {
    if (!intact_section(section)) return false;
  }
  return true;
}

bool SectionChecks::intact_section(std::uint64_t section) noexcept {
  State state = states_[section].load(std::memory_order_relaxed);
  if (state == State::unverified) state = verify(section);
  return state == State::intact;
}

SectionChecks::State SectionChecks::verify(std::uint64_t section) noexcept {
  const std::uint64_t start = section * section_bytes;
  const ByteView bytes = body_.subspan(start, std::min(section_bytes, body_.size() - start));
  const auto expected = load_little_endian<std::uint64_t>(&table_[section * checksum_bytes]);
  const State found = checksum(bytes) == expected ? State::intact : State::corrupt;
  // Only the first to record the section counts it.
  State unverified = State::unverified;
  const bool is_first =
      states_[section].compare_exchange_strong(unverified, found, std::memory_order_relaxed);
  if (is_first && found == State::intact) remaining_.fetch_sub(1, std::memory_order_relaxed);
  return is_first ? found : unverified;
}

}  // namespace guestlist::filter_file
