#pragma once

// Where a shared filter lies in Redis: its keys, its segments, the bytes of a line. Pure.
// Format: docs/formats/shared-filter.md.
//
// A filter has one or more shards. A shard is one hash tag, so one slot of a Cluster, and a filter
// of its own over the keys that fall to it. Its lines are cut into segments, strings of some MiB,
// because one large string stalls Redis when it is written, deleted or moved.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_layout.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

/// Errors: `invalid_argument` for a name that is empty, longer than 200 bytes, or has a brace or a
/// control character in it.
Result<void> check_shared_filter_name(std::string_view name);

/// The names of a shard's keys.
class ShardKeys {
 public:
  ShardKeys(std::string_view filter, std::uint32_t shard);

  const std::string& state() const noexcept { return state_; }
  const std::string& log() const noexcept { return log_; }
  std::string segment(std::uint64_t generation, std::uint64_t index) const;
  std::uint16_t slot() const noexcept { return slot_; }

 private:
  std::string prefix_;
  std::string state_;
  std::string log_;
  std::uint16_t slot_;
};

/// Which of `shards` a key falls to, whatever the generation.
std::uint32_t shard_of(std::string_view key, const Secret& shard_secret,
                       std::uint32_t shards) noexcept;

/// How the lines of one generation of one shard are laid out.
struct ShardGeometry {
  static constexpr std::uint64_t line_bytes = 64;
  static constexpr std::uint64_t header_bytes = 64;
  static constexpr std::uint64_t default_lines_per_segment = (std::uint64_t{8} << 20) / line_bytes;

  BlockLayout layout = BlockLayout::split_line;  ///< a layout with 64-byte lines
  std::uint64_t lines = 0;
  std::uint64_t lines_per_segment = default_lines_per_segment;

  std::uint64_t segments() const noexcept {
    return (lines + lines_per_segment - 1) / lines_per_segment;
  }
  /// Length of the string, header included.
  std::uint64_t segment_bytes(std::uint64_t segment) const noexcept {
    const auto first = segment * lines_per_segment;
    return header_bytes +
           (lines - first < lines_per_segment ? lines - first : lines_per_segment) * line_bytes;
  }
  friend bool operator==(const ShardGeometry&, const ShardGeometry&) noexcept = default;
};

/// Everything that places the bits of one generation; it travels with them.
struct GenerationParameters {
  ShardGeometry geometry;
  KeyHasher hasher = KeyHasher::xxh64();
  std::uint64_t capacity = 0;  ///< planned items of this shard
  double fpr = 0;
  std::uint64_t items = 0;        ///< keys that were loaded, as counted by the builder
  std::int64_t created_unix = 0;  ///< seconds; informative, no verdict depends on it

  /// As it stands in the state.
  std::string text() const;
  /// Errors: `foreign_format`, `corrupt`.
  static Result<GenerationParameters> parse(std::string_view text);
  friend bool operator==(const GenerationParameters&,
                         const GenerationParameters&) noexcept = default;
};

/// Where the bits of one key are, and which they are.
struct LineBits {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;  ///< bytes from the start of the string
  std::array<char, ShardGeometry::line_bytes> mask{};

  std::string_view mask_view() const noexcept { return {mask.data(), mask.size()}; }
  /// Requires: line.size() == 64.
  bool is_set_in(std::string_view line) const noexcept;
};

LineBits line_bits(const GenerationParameters& parameters, KeyHash hash) noexcept;

/// The first 64 bytes of a segment.
std::string segment_header(const GenerationParameters& parameters, std::uint64_t generation,
                           std::uint32_t shard, std::uint64_t segment);

/// Keys as an entry of the log holds them: for each its length (32 bits, little-endian), its bytes.
std::string pack_keys(const std::vector<std::string_view>& keys);
/// Views into `packed`. Errors: `corrupt`.
Result<std::vector<std::string_view>> unpack_keys(std::string_view packed);

}  // namespace guestlist
