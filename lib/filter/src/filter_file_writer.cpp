#include "guestlist/filter/filter_file_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "filter_file_format.hpp"
#include "guestlist/base/file.hpp"
#include "printable_text.hpp"

namespace guestlist {
namespace {

Result<void> check_text(std::string_view what, const std::string& text, std::size_t limit) {
  if (text.size() <= limit && filter_file::is_printable(text)) return {};
  return fail(
      Errc::invalid_argument,
      fmt::format("the {} of a filter file is text of at most {} bytes without control characters",
                  what, limit));
}

Result<FilterFileHeader> make_header(const AnyFilter& filter, const FilterFileInfo& info,
                                     SecretPlacement placement) {
  if (auto ok = check_text("key type", info.key_type, FilterFileInfo::max_key_type_bytes); !ok) {
    return fail(std::move(ok).error());
  }
  if (auto ok = check_text("source position", info.position, FilterFileInfo::max_position_bytes);
      !ok) {
    return fail(std::move(ok).error());
  }
  const KeyHasher& hasher = filter.hasher();
  FilterFileHeader header;
  header.shape = filter.shape();
  header.hash = hasher.kind();
  header.secret_fingerprint = hasher.secret().fingerprint();
  if (placement == SecretPlacement::in_file) header.secret = hasher.secret();
  header.info = info;
  header.info.origin = filter_file::to_printable(info.origin, FilterFileInfo::max_origin_bytes);
  filter_file::place_body(header);
  return header;
}

/// The body as it will stand in the file: the layers one after the other, with zeros up to each
/// one's start.
class Body {
 public:
  Body(const FilterShape& shape, const std::vector<ByteView>& layers) {
    const auto offsets = filter_file::layer_offsets(shape);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (offsets[i] > end) rest_.push_back(ByteView(zeros_).first(offsets[i] - end));
      rest_.push_back(layers[i]);
      end = offsets[i] + layers[i].size();
    }
  }

  /// Empty at the end. The bytes stay until the next call; they are copied only where layers meet.
  ByteView next_section() {
    if (next_ < rest_.size() && rest_[next_].size() >= filter_file::section_bytes) {
      return take(filter_file::section_bytes);
    }
    assembled_.clear();
    while (next_ < rest_.size() && assembled_.size() < filter_file::section_bytes) {
      const ByteView piece = take(filter_file::section_bytes - assembled_.size());
      assembled_.insert(assembled_.end(), piece.begin(), piece.end());
    }
    return assembled_;
  }

 private:
  ByteView take(std::size_t at_most) {
    ByteView& piece = rest_[next_];
    const ByteView taken = piece.first(std::min(at_most, piece.size()));
    piece = piece.subspan(taken.size());
    if (piece.empty()) ++next_;
    return taken;
  }

  static constexpr std::array<std::byte, filter_file::layer_alignment> zeros_{};
  std::vector<ByteView> rest_;
  std::size_t next_ = 0;
  std::vector<std::byte> assembled_;
};

/// Writes the body behind what was written before, and returns the table of its checksums.
Result<std::vector<std::byte>> write_body(AtomicFile& file, Body body, std::uint64_t body_size,
                                          const FileProgress& progress) {
  std::vector<std::byte> table;
  std::uint64_t done = 0;
  for (ByteView section = body.next_section(); !section.empty(); section = body.next_section()) {
    if (auto written = file.write(section); !written) return fail(std::move(written).error());
    done += section.size();
    table.resize(table.size() + filter_file::checksum_bytes);
    store_little_endian(table.data() + table.size() - filter_file::checksum_bytes,
                        filter_file::checksum(section));
    if (progress) progress(done, body_size);
  }
  return table;
}

/// All of the file, not yet under its name.
Result<AtomicFile> prepare(const std::string& path, const AnyFilter& filter,
                           const FilterFileInfo& info, SecretPlacement placement,
                           const FileProgress& progress) {
  const auto header = make_header(filter, info, placement);
  if (!header) return fail(header.error());
  const bool is_confidential = header->secret && header->hash == HashKind::siphash;
  auto file =
      AtomicFile::create(path, is_confidential ? Readers::owner_and_group : Readers::everyone);
  if (!file) return file;
  // Header and table come first in the file and are known last: their room is taken with zeros.
  const std::vector<std::byte> room(header->body_offset);
  if (auto written = file->write(room); !written) return fail(std::move(written).error());
  const auto table =
      write_body(*file, Body(header->shape, filter.layer_bytes()), header->body_size, progress);
  if (!table) return fail(table.error());
  auto front = filter_file::encode_header(*header, filter_file::checksum(*table));
  front.insert(front.end(), table->begin(), table->end());
  if (auto written = file->write_at(0, front); !written) return fail(std::move(written).error());
  return file;
}

}  // namespace

Result<void> write_filter_file(const std::string& path, const AnyFilter& filter,
                               const FilterFileInfo& info, SecretPlacement placement,
                               const FileProgress& progress) {
  auto file = prepare(path, filter, info, placement, progress);
  if (!file) return fail(std::move(file).error());
  return file->commit();
}

Result<void> create_filter_file(const std::string& path, const AnyFilter& filter,
                                const FilterFileInfo& info, SecretPlacement placement) {
  auto file = prepare(path, filter, info, placement, {});
  if (!file) return fail(std::move(file).error());
  return file->commit_new();
}

}  // namespace guestlist
