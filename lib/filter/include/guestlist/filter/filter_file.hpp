#pragma once

// A filter in a file, mapped: open in microseconds whatever its size, ask at once. The header is
// verified when the file is opened, the body a section of 1 MiB at a time when an answer is first
// taken from it. No verdict comes from a section that was not verified: where its checksum fails,
// the verdict is `unknown(corrupt)`.
//
// Use it to ask. To add or merge, `load` the filter into memory and write a new file. A server that
// asks for long does well to load too: memory has huge pages, a mapping has not.
//
// The file must not be overwritten or truncated in place while it is open; replacing it by rename,
// as write_filter_file does, is safe: the old bytes stay.
//
// Cost: `file/*` of filter_bench. Format: docs/formats/filter-file.md. Tested by: FilterFile.*,
// filter_file_fuzz. Distinct objects: safe. Shared objects: any number of threads may check and
// verify at once.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"
#include "guestlist/base/verdict.hpp"
#include "guestlist/filter/any_filter.hpp"
#include "guestlist/filter/filter_file_header.hpp"

namespace guestlist {

namespace filter_file {
class SectionChecks;
}

/// Told now and then how many bytes of how many are done.
using FileProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

class FilterFile {
 public:
  /// `secret` is needed where the file holds only its fingerprint.
  /// Errors: `not_found`, `unreadable`, `foreign_format`, `truncated`, `newer_version`, `corrupt`;
  /// `mismatched` where a secret is missing or is not the file's. Complexity: the header and eight
  /// bytes a MiB; `file/open/1GiB`.
  static Result<FilterFile> open(const std::string& path,
                                 const std::optional<Secret>& secret = std::nullopt);

  /// The same for bytes in memory. `keeper` keeps them alive and may be empty where the caller
  /// does; `name` stands for the path in messages. Requires: `bytes` is 64-byte aligned and does
  /// not change.
  static Result<FilterFile> from_bytes(ByteView bytes, const std::shared_ptr<const void>& keeper,
                                       const std::string& name,
                                       const std::optional<Secret>& secret = std::nullopt);

  FilterFile(FilterFile&& other) noexcept;
  FilterFile& operator=(FilterFile&& other) noexcept;
  FilterFile(const FilterFile&) = delete;
  FilterFile& operator=(const FilterFile&) = delete;
  ~FilterFile();

  const FilterFileHeader& header() const noexcept { return header_; }
  const KeyHasher& hasher() const noexcept { return filter_.hasher(); }

  /// Never fails: `unknown(corrupt)` where the answer would have come from a damaged section.
  Verdict check(KeyHash hash) const;
  /// `key` is canonical, spelt as header().info.key_type says.
  Verdict check(std::string_view key) const { return check(hasher()(key)); }
  /// The same for many keys at the speed of the structure's batch query.
  /// Requires: `out` has the length of `hashes`.
  void check_many(std::span<const KeyHash> hashes, std::span<Verdict> out) const;

  /// Verifies every section now. Errors: `corrupt`, with how many sections and the first one.
  Result<void> verify_all(const FileProgress& progress = {}) const;
  /// The filter in place, to ask for its fill and the like, once every section was verified. It is
  /// read only and lives as long as this object.
  Result<const AnyFilter*> verified() const;
  /// The filter in memory of its own, every section verified. Errors: `corrupt`; `too_large` where
  /// the machine has not that much memory.
  Result<AnyFilter> load() const;

 private:
  FilterFile(std::string name, ByteView body, FilterFileHeader header,
             std::unique_ptr<filter_file::SectionChecks> sections, AnyFilter filter);
  bool is_intact(KeyHash hash) const;

  std::string name_;
  ByteView body_;
  FilterFileHeader header_;
  std::vector<std::uint64_t> layer_offsets_;
  std::unique_ptr<filter_file::SectionChecks> sections_;
  AnyFilter filter_;  ///< a view on the body
};

}  // namespace guestlist
