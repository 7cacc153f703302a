#pragma once

// What the calls that write filter files share.

#include <optional>
#include <string>

#include "call.hpp"
#include "filling.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/filter/any_filter.hpp"
#include "guestlist/filter/filter_file.hpp"
#include "guestlist/filter/filter_file_writer.hpp"

namespace guestlist {

/// Whether a file can be written there, before hours of work go into it. Leaves nothing behind.
Result<void> check_can_write(const std::string& path);

/// Keeps others from changing the file at `path` while it is replaced; nothing where there is none
/// yet.
Result<std::optional<FileLock>> lock_existing(const std::string& path);

/// Where keys came from, as `inspect` shows it.
std::string origin_of(const InputOptions& inputs);

/// A filter file that is to be changed, with the lock that keeps others from changing it at the
/// same time.
struct OwnedFile {
  FileLock lock;
  FilterFileHeader header;
  AnyFilter filter;

  KeyType key_type() const;
  SecretPlacement placement() const noexcept {
    return header.secret ? SecretPlacement::in_file : SecretPlacement::elsewhere;
  }
};

/// Errors: of FilterFile::open; `corrupt`.
Result<OwnedFile> own_file(const std::string& path, const std::string& secret_file);

/// A note on stderr where more keys are in than were planned.
void warn_if_overfull(const AnyFilter& filter);
void warn_of_unparsable(const Filled& filled, KeyType type);

}  // namespace guestlist
