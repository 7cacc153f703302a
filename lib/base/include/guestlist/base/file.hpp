#pragma once

// Files as guestlist needs them: a read-only mapping that opens in microseconds whatever the size,
// and a write that replaces a file whole or not at all.
//
// Durability: AtomicFile writes to a temporary file in the same folder, flushes it to the device,
// renames it over the target and flushes the folder. A process that is killed at any moment leaves
// the old file, or the new one, and never a mixture; at worst a temporary file `.NAME.XXXXXX.tmp`
// stays behind.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist {

/// A whole file, mapped read-only. The bytes stay valid for as long as the object lives, also when
/// the file is replaced by rename meanwhile; a file that is truncated in place by somebody else is
/// outside of what a mapping can survive, and guestlist itself never does that. Distinct objects:
/// safe. Shared objects: safe, they are read only.
class MappedFile {
 public:
  /// Errors: `not_found`, `unreadable` (also for a folder, a pipe or a device).
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  ByteView bytes() const noexcept { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Who may read a new file, as far as the process's umask allows.
enum class Readers { everyone, owner_and_group };

/// Writes a file that appears under its name only when `commit` has succeeded. An existing file
/// keeps its permissions; a new one gets those of the process's umask and of `readers`. Distinct
/// objects: safe. Shared objects: one thread at a time.
class AtomicFile {
 public:
  /// Errors: `unwritable` where the folder is missing or refuses, or where `path` is a folder.
  static Result<AtomicFile> create(const std::string& path, Readers readers = Readers::everyone);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();

  /// Errors: `unwritable`, with the system's reason (a full disk, a quota).
  Result<void> write(ByteView bytes);
  /// Overwrites bytes that were written before; the end of the file does not move.
  Result<void> write_at(std::uint64_t offset, ByteView bytes);
  /// Flush, rename, flush the folder. Requires: one commit is called, once.
  Result<void> commit();
  /// The same where no file may be there yet: of several that do so at once, one succeeds, and
  /// what another has put there stays. Errors: `already_exists`; `unwritable`.
  Result<void> commit_new();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor) noexcept;
  Result<void> flush();
  void flush_folder() const noexcept;
  void discard() noexcept;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// Keeps others who ask for the same lock from changing a file that is replaced by rename, until it
/// goes. Advisory, and gone with the process that holds it. Distinct objects: safe.
class FileLock {
 public:
  /// Waits for its turn. Errors: `not_found`, `unreadable`.
  static Result<FileLock> acquire(const std::string& path);
  /// Does not wait; makes an empty file where there is none. Errors: `already_exists` where
  /// somebody has the lock; `unwritable`.
  static Result<FileLock> try_acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// The whole content of a file of at most `limit` bytes. Errors: as MappedFile, and `too_large`.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// Replaces `path` by `content`, whole or not at all.
Result<void> write_file(const std::string& path, ByteView content);

}  // namespace guestlist
