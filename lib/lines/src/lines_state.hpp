#pragma once

// What a LinesSource, its feeds, snapshots and lookups share.
//
// Distinct objects: safe. Shared objects: safe.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "file_watch.hpp"
#include "guestlist/lines/key_reader.hpp"
#include "guestlist/lines/lines_source.hpp"
#include "key_index.hpp"

namespace guestlist::lines {

/// A state of the file that was read from end to end.
struct Content {
  std::shared_ptr<const KeyIndex> index = std::make_shared<KeyIndex>();
  std::uint64_t version = 0;  ///< 0: none was read
  FileStamp stamp = {};       ///< before the read
  /// Snapshots that had been opened when the read began. One opened since may be of a state that
  /// lacks keys of this one.
  std::uint64_t snapshots = 0;
  /// The file did not change while it was read, or was appended to.
  bool is_whole = true;
};

class LinesState {
 public:
  LinesState(const LinesFile& file, const LinesSourceOptions& options);

  Result<std::unique_ptr<KeyReader>> open_reader() const;
  /// The canonical form, or nothing.
  std::optional<std::string_view> canonical(std::string_view key, std::string& buffer) const {
    return canonicalize(file.key_type, key, buffer);
  }
  std::string origin() const;
  void begin_epoch() { ++epoch_; }

  /// Why `now`, with its keys, is not to be taken as it is: it lost keys and is perhaps being
  /// written, or is empty. Nothing where it may.
  std::optional<std::string> doubt(const FileLook& look, const Content& before,
                                   const KeyIndex& now) const;
  Content accepted() const;
  void accept(const Content& content);
  /// Reads the file where it changed. Errors: `unavailable`, also where it is not to be taken as it
  /// is.
  Result<Content> refresh();

  const LinesFile file;
  const LinesSourceOptions options;
  const SteadyClock clock;
  const Fingerprinter fingerprint;
  FileWatch watch;
  std::atomic<std::uint64_t> snapshots_opened = 0;
  std::atomic<int> snapshots_open = 0;
  std::atomic<int> feeds = 0;

 private:
  Result<std::vector<Hash128>> read_all() const;

  std::atomic<std::uint64_t> epoch_ = 0;
  mutable std::mutex mutex_;
  Content accepted_;
};

/// Whether `later` can have come from `stamp` by appending.
inline bool has_grown(const FileStamp& stamp, const FileStamp& later) noexcept {
  return later.device == stamp.device && later.inode == stamp.inode && later.size > stamp.size;
}

/// Whatever it was, the file cannot be used now.
inline Error unavailable(Error error) {
  return {make_error_code(Errc::unavailable), std::move(error.detail)};
}

}  // namespace guestlist::lines
