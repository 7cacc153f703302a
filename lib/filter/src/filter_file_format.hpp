#pragma once

// The bytes of a filter file before its body: writing them, and reading them from bytes that nobody
// has vouched for. docs/formats/filter-file.md is the specification; this is its only
// implementation.
//
//   header | table: one XXH3-64 a section of the body | zeros to a multiple of 4096 | body: the
//   layers
//
// The header ends in its own checksum and holds that of the table, the table holds those of the
// body: one chain, so that no part can be exchanged for that of another file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/filter/filter_file_header.hpp"

namespace guestlist::filter_file {

inline constexpr std::string_view magic = "GLFILTER";
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint64_t section_bytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t body_alignment =
    4096;  ///< bytes; a page, so that a mapping is aligned
inline constexpr std::uint64_t layer_alignment = 64;  ///< bytes; a cache line
inline constexpr std::size_t max_layers = 64;
inline constexpr std::size_t checksum_bytes = 8;
/// Magic, version and header size: the same in every version, as is the checksum at the header's
/// end.
inline constexpr std::size_t prefix_bytes = 16;
inline constexpr std::size_t fixed_bytes =
    112;  ///< of every header of version 1, the prefix included
inline constexpr std::size_t layer_bytes = 64;    ///< of one layer's description
inline constexpr std::uint8_t stores_secret = 1;  ///< the one flag
/// More than any header of version 1 has; a later version may grow up to here.
inline constexpr std::uint32_t max_header_bytes = 1 << 16;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}

constexpr std::uint64_t section_count(std::uint64_t body_size) noexcept {
  return body_size / section_bytes + (body_size % section_bytes != 0 ? 1 : 0);
}

constexpr std::uint64_t header_size(std::size_t layers, std::size_t text_bytes) noexcept {
  return align_up(fixed_bytes + layers * layer_bytes + text_bytes, 8) + checksum_bytes;
}

/// Bytes of the header as version 1 writes it, its checksum included.
std::uint64_t header_size(const FilterFileHeader& header) noexcept;

/// Where each layer starts in the body, and the body's size as the last element.
std::vector<std::uint64_t> layer_offsets(const FilterShape& shape);

/// Sets body_offset and body_size from the rest of the header.
void place_body(FilterFileHeader& header);

/// Requires: place_body was called; texts within their limits.
std::vector<std::byte> encode_header(const FilterFileHeader& header, std::uint64_t table_checksum);

/// Reads and checks all that comes before the body, and that the body has its length. `name` stands
/// for the file in messages. Errors: `foreign_format`, `truncated`, `newer_version`, `corrupt`.
/// Complexity: the bytes before the body.
Result<FilterFileHeader> decode_header(ByteView file, const std::string& name);

/// The table of a file whose header was decoded.
ByteView table_of(ByteView file, const FilterFileHeader& header) noexcept;

/// XXH3-64, seed 0.
std::uint64_t checksum(ByteView bytes) noexcept;

}  // namespace guestlist::filter_file
