#pragma once

// A followed filter on disk: a filter file, and the journals of what came after it. A restart opens
// it in the time it takes to read the file.
//
//   NAME.guestlist     the bits, complete up to the position in its header
//   NAME.journal.N     changes from there on; each begins with the position that it goes on from
//
// A save first begins the next journal, then copies the bits and writes the file, then removes the
// journals before: whenever the process ends, the file and the journals that are there hold every
// change up to the position of the last one. A journal counts only where everything up to the
// position that it begins with is there: after a full disk there is a gap between two.
//
// Distinct objects: safe; two of one name are kept apart by a lock. Shared objects: `append` and
// `begin_save` by one thread, `finish_save` by another. Tested by: SavedFilter.*

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/file.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/filter/filter_file_header.hpp"
#include "guestlist/sync/change_journal.hpp"

namespace guestlist {

class SavedFilter {
 public:
  struct Content {
    BloomFilter filter;
    std::uint64_t generation = 0;
    SourcePosition position;
  };

  /// Makes the folder where it is not there. Errors: `unwritable`, `unreadable`; `already_exists`
  /// where another process keeps this filter.
  static Result<SavedFilter> open(const std::string& folder, const std::string& name);
  SavedFilter(SavedFilter&&) noexcept = default;
  SavedFilter& operator=(SavedFilter&&) noexcept = default;

  /// Nothing where there is no file, or one of another source or key type. Errors: of FilterFile.
  Result<std::optional<Content>> load(const std::string& origin, const std::string& key_type);

  /// Errors: `unwritable`; what is on disk ends at the last position that was appended.
  Result<void> append(std::span<const std::string> keys, const SourcePosition& position);
  /// What comes from here on does not go on from what is saved; a save begins the next journal.
  void end_journal() noexcept { journal_.reset(); }
  /// Bytes of the journals since the last save.
  std::uint64_t journal_bytes() const noexcept { return journal_ ? journal_->size_bytes() : 0; }

  /// From here on changes go to a new journal, which goes on from `position`. The bits that are
  /// saved must be copied after it, and have everything up to `position`. Errors: `unwritable`.
  Result<void> begin_save(const SourcePosition& position);
  /// Errors: of write_filter_file; what was there before is still whole.
  Result<void> finish_save(const BloomFilter& filter, const FilterFileInfo& info);

 private:
  SavedFilter(std::string stem, FileLock lock) : stem_(std::move(stem)), lock_(std::move(lock)) {}
  std::string file_path() const { return stem_ + ".guestlist"; }
  std::string journal_path(std::uint64_t number) const;
  std::vector<std::uint64_t> journal_numbers() const;

  std::string stem_;
  FileLock lock_;
  std::optional<ChangeJournal> journal_;
  std::uint64_t journal_number_ = 0;
};

}  // namespace guestlist
