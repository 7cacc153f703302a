#pragma once

// A file of keys as a source that is followed: a key a line, a column of CSV or a field of JSON
// lines, read again when the file changes. Whoever writes the file appends to it, or writes another
// one and renames it over this one. The value of a key is the key.
//
// What is being written is not taken at its word. Keys that are new are given at once; that keys
// are gone is believed when the file has lain still for `settle`. A snapshot waits for that too,
// and one that lost keys while it was read ends with an error. A file that is missing, cannot be
// read or is empty all at once is `unavailable`: no verdict hangs on it then.
//
// Changes are seen by the file's inode, size and times. A file system that shows these late (NFS
// with cached attributes), or a writer that changes the file through a mapping, is followed late.
//
// Positions are of this object. After a restart one is gone on from where the file has not changed
// since; otherwise `follow` says `not_found`, and the follower begins anew. docs/decisions/1101.
//
// Cost: 16 bytes of memory a key, twice that while a changed file is read. Distinct objects: safe.
// Shared objects: safe. Tested by: LinesSource.*, the Source laws, the ChangeFeed laws.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "guestlist/base/clock.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/change_feed.hpp"

namespace guestlist {

namespace lines {
class LinesState;
class LookupQueue;
}  // namespace lines

struct LinesFile {
  std::filesystem::path path = {};
  std::string csv_column = {};  ///< a name of the header row, or a number from 1
  std::string json_field = {};  ///< a name, or names joined by dots
  bool crlf = false;            ///< a carriage return before the line feed is not part of the key
  /// What is no spelling of a value of this type is no key.
  KeyType key_type = KeyType::text;
};

struct LinesSourceOptions {
  /// Between two looks at the file.
  Duration poll = std::chrono::milliseconds(250);
  /// A file that has not changed for so long is not being written. At least 50 ms, and 2.1 s where
  /// the file system keeps whole seconds: two changes at one time stamp are told apart by it.
  Duration settle = std::chrono::seconds(1);
  /// How long a snapshot waits for that; then it takes what is there, where no key is missing.
  Duration snapshot_wait = std::chrono::seconds(10);
  /// A file with keys may come to have none.
  bool may_become_empty = false;
  std::size_t max_waiting_loads = 10'000;
};

class LinesSource final : public FollowedSource {
 public:
  /// Reads the beginning of the file. Errors: `unavailable` where it is missing or cannot be read;
  /// `invalid_argument` where it is no regular file, or has no such column.
  static Result<std::unique_ptr<LinesSource>> open(const LinesFile& file,
                                                   const LinesSourceOptions& options = {});
  ~LinesSource() override;

  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override;
  Result<std::unique_ptr<Snapshot>> snapshot() override;
  Result<std::unique_ptr<ChangeFeed>> follow(
      const std::optional<SourcePosition>& position) override;
  Result<SourcePosition> end(Deadline deadline) override;
  std::vector<Finding> examine(Deadline deadline) override;
  /// Leaves nothing behind as following does not either; positions of before are not gone on from.
  Result<void> forget() override;

 private:
  explicit LinesSource(std::shared_ptr<lines::LinesState> state);

  const std::shared_ptr<lines::LinesState> state_;
  const std::unique_ptr<lines::LookupQueue> lookups_;
  std::thread worker_;
};

}  // namespace guestlist
