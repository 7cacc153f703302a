#include "filter_file_format.hpp"

#include <xxhash.h>

#include <bit>
#include <cassert>

namespace guestlist::filter_file {
namespace {

/// Appends little-endian numbers.
class Writer {
 public:
  template <class T>
  void number(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    store_little_endian(bytes_.data() + at, value);
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void append(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void pad_to(std::size_t alignment) { bytes_.resize(align_up(bytes_.size(), alignment)); }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

void encode_layer(Writer& out, const LayerShape& layer) {
  out.number(layer.layout);
  out.number(layer.probes);
  out.number(layer.unit_bits);
  out.number(std::uint32_t{0});
  out.number(layer.units);
  out.number(layer.capacity);
  out.real(layer.fpr);
  out.number(layer.items);
  out.number(layer.size_bytes);
  out.number(std::uint64_t{0});
}

}  // namespace

std::uint64_t header_size(const FilterFileHeader& header) noexcept {
  const FilterFileInfo& info = header.info;
  return header_size(header.shape.layers.size(),
                     info.key_type.size() + info.position.size() + info.origin.size());
}

std::vector<std::uint64_t> layer_offsets(const FilterShape& shape) {
  std::vector<std::uint64_t> offsets{0};
  std::uint64_t end = 0;
  for (const LayerShape& layer : shape.layers) {
    offsets.back() = align_up(end, layer_alignment);
    end = offsets.back() + layer.size_bytes;
    offsets.push_back(end);
  }
  return offsets;
}

void place_body(FilterFileHeader& header) {
  header.body_size = layer_offsets(header.shape).back();
  const std::uint64_t table_bytes = section_count(header.body_size) * checksum_bytes;
  header.body_offset = align_up(header_size(header) + table_bytes, body_alignment);
}

std::vector<std::byte> encode_header(const FilterFileHeader& header, std::uint64_t table_checksum) {
  const FilterFileInfo& info = header.info;
  Writer out;
  out.append(as_bytes(magic));
  out.number(version);
  out.number(static_cast<std::uint32_t>(header_size(header)));
  out.number(header.body_offset);
  out.number(header.body_size);
  out.number(table_checksum);
  out.number(static_cast<std::uint32_t>(section_bytes));
  out.number(static_cast<std::uint16_t>(header.shape.structure));
  out.number(static_cast<std::uint8_t>(header.hash));
  out.number(header.secret ? stores_secret : std::uint8_t{0});
  out.number(header.secret_fingerprint);
  out.append(header.secret.value_or(Secret()).bytes());
  out.number(header.shape.capacity);
  out.real(header.shape.fpr);
  out.number(info.generation);
  out.number(static_cast<std::uint64_t>(info.created_at.time_since_epoch().count()));
  out.number(static_cast<std::uint16_t>(header.shape.layers.size()));
  out.number(static_cast<std::uint16_t>(info.key_type.size()));
  out.number(static_cast<std::uint16_t>(info.position.size()));
  out.number(static_cast<std::uint16_t>(info.origin.size()));
  assert(out.bytes().size() == fixed_bytes);
  for (const LayerShape& layer : header.shape.layers) encode_layer(out, layer);
  out.append(as_bytes(info.key_type));
  out.append(as_bytes(info.position));
  out.append(as_bytes(info.origin));
  out.pad_to(8);
  out.number(checksum(out.bytes()));
  assert(out.bytes().size() == header_size(header));
  return out.bytes();
}

ByteView table_of(ByteView file, const FilterFileHeader& header) noexcept {
  return file.subspan(header_size(header), section_count(header.body_size) * checksum_bytes);
}

std::uint64_t checksum(ByteView bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace guestlist::filter_file

namespace guestlist {

std::uint64_t FilterFileHeader::items() const noexcept {
  std::uint64_t sum = 0;
  for (const LayerShape& layer : shape.layers) sum += layer.items;
  return sum;
}

}  // namespace guestlist
