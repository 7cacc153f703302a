#pragma once

// Numbers the states of a file, in order. Two changes within one tick of the file system's clock
// leave the same stamp, so a state counts as settled only when its stamp is older than that, and
// then gets a number once more: what was read before is read again.
//
// The number of a state begins at its change time, so that a number of an earlier process tells
// whether the file has changed since.
//
// Distinct objects: safe. Shared objects: safe.

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::lines {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t modified_ns = 0;
  std::uint64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct FileLook {
  FileStamp stamp = {};
  std::uint64_t version = 0;
  bool is_settled = false;
  TimePoint at{};  ///< before the look
};

class FileWatch {
 public:
  FileWatch(std::string path, Duration settle) : path_(std::move(path)), settle_(settle) {}

  /// Errors: `unavailable` where there is no regular file.
  Result<FileLook> look();
  /// A number that is reached only by whoever reads the file after this call.
  Result<FileLook> end();
  /// Whether the file is as it was when `version`, perhaps of another process, was read.
  bool has_stood_still_since(std::uint64_t version);
  /// Whether `version` is of this object.
  bool has_issued(std::uint64_t version) const;
  const std::string& path() const noexcept { return path_; }

 private:
  Result<FileLook> look_locked();

  const std::string path_;
  const Duration settle_;
  const SteadyClock clock_;
  mutable std::mutex mutex_;
  FileLook last_;
  std::uint64_t first_version_ = 0;
  TimePoint first_seen_{};
};

}  // namespace guestlist::lines
