#pragma once

// What a filter file says of itself before its bits: enough to restore the filter without
// recomputing anything, and enough for a person to know where it came from.
//
// Format: docs/formats/filter-file.md.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "guestlist/filter/filter_shape.hpp"
#include "guestlist/hash/key_hasher.hpp"
#include "guestlist/hash/secret.hpp"

namespace guestlist {

/// What the writer of a file tells about the filter, beyond the filter itself. Texts are UTF-8
/// without control characters, so that they can be printed as they are.
struct FilterFileInfo {
  static constexpr std::size_t max_key_type_bytes = 32;
  static constexpr std::size_t max_position_bytes = 256;
  static constexpr std::size_t max_origin_bytes = 1024;

  /// Number of this complete build; a rebuild counts on.
  std::uint64_t generation = 1;
  /// How keys were spelt when the filter was built: `int`, `uuid`, `text`, `bytes`, `decimal`. A
  /// query has to canonicalise as the build did.
  std::string key_type = "text";
  /// Where in the source's history the filter stands (a PostgreSQL LSN, for example); may be empty.
  std::string position;
  /// What it was built from, for people; may be empty. The writer shortens it and replaces control
  /// characters where it must.
  std::string origin;
  std::chrono::sys_seconds created_at =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());

  friend bool operator==(const FilterFileInfo&, const FilterFileInfo&) = default;
};

struct FilterFileHeader {
  FilterShape shape;
  HashKind hash = HashKind::siphash;
  std::uint64_t secret_fingerprint = 0;
  /// Nothing where the file holds the fingerprint only.
  std::optional<Secret> secret;
  FilterFileInfo info;
  std::uint64_t body_offset = 0;  ///< bytes from the start of the file
  std::uint64_t body_size = 0;    ///< bytes

  /// The inserts that changed something, over all layers.
  std::uint64_t items() const noexcept;

  friend bool operator==(const FilterFileHeader&, const FilterFileHeader&) = default;
};

}  // namespace guestlist
