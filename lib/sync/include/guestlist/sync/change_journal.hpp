#pragma once

// The changes that came after a filter was saved, in a file that is only appended to. With it a
// process that was killed goes on where it was.
//
// A record is written before what it holds is acknowledged to the source. It is not flushed to the
// device: a kill loses nothing, a power cut may. Then the journal ends before what was
// acknowledged, the source says so when it is followed again (`not_found`), and the filter is built
// anew.
//
// Format, little-endian: 8 bytes `GLJRNL`, 0x01, LF; then records: u32 size of the payload, u64
// XXH3-64 of the payload, payload. A payload is the position's text, then keys; each is preceded by
// its length as u32. The first record that is cut short or does not fit its checksum ends the
// journal.
//
// Distinct objects: safe. Shared objects: one thread at a time. Tested by: ChangeJournal.*

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"
#include "guestlist/port/change_feed.hpp"

namespace guestlist {

class ChangeJournal {
 public:
  /// Begins a journal; one that is there is replaced. Errors: `unwritable`.
  static Result<ChangeJournal> create(const std::string& path);
  ChangeJournal(ChangeJournal&& other) noexcept;
  ChangeJournal& operator=(ChangeJournal&& other) noexcept;
  ~ChangeJournal();

  /// Errors: `unwritable`; the journal ends before these changes then, and takes no more.
  Result<void> append(std::span<const std::string> keys, const SourcePosition& position);
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  using Record =
      std::function<void(std::span<const std::string_view> keys, const SourcePosition& position)>;
  /// Reads what is whole, record by record. Errors: `not_found`, `unreadable`, `foreign_format`.
  static Result<void> replay(const std::string& path, const Record& record);

 private:
  ChangeJournal(std::string path, int descriptor) noexcept;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
  bool has_failed_ = false;
  std::string buffer_;
};

}  // namespace guestlist
