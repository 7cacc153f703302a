#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "filter_file_format.hpp"
#include "filter_file_refusal.hpp"
#include "printable_text.hpp"

namespace guestlist::filter_file {
namespace {

/// No layer is larger, so that sums of sizes cannot overflow.
constexpr std::uint64_t max_layer_bytes = std::uint64_t{1} << 56;

bool is_rate(double value) noexcept {
  return std::isfinite(value) && value > 0 && value < 1;
}

/// Takes little-endian numbers off the front. Requires: the bytes asked for are there.
class Reader {
 public:
  explicit Reader(ByteView bytes) noexcept : rest_(bytes) {}

  template <class T>
  T number() noexcept {
    return load_little_endian<T>(take(sizeof(T)).data());
  }
  double real() noexcept { return std::bit_cast<double>(number<std::uint64_t>()); }
  std::string text(std::size_t size) { return std::string(as_text(take(size))); }
  ByteView take(std::size_t size) noexcept {
    assert(size <= rest_.size());
    const ByteView taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

 private:
  ByteView rest_;
};

/// The header without its checksum, once that was found to hold, and the version is the one we
/// know.
Result<ByteView> sealed_header(ByteView file, const Refusal& refuse) {
  const std::size_t known = std::min(file.size(), magic.size());
  if (file.empty() || as_text(file.first(known)) != magic.substr(0, known))
    return refuse.foreign(file);
  if (file.size() < prefix_bytes) return refuse.truncated(file.size(), fixed_bytes);
  const auto file_version = load_little_endian<std::uint32_t>(&file[8]);
  const auto size = load_little_endian<std::uint32_t>(&file[12]);
  const bool is_newer = file_version > version;
  if (size < prefix_bytes + checksum_bytes || size > max_header_bytes) {
    if (is_newer) return refuse.newer(fmt::format("its version is {}", file_version));
    return refuse.corrupt("its header has an impossible size");
  }
  if (size > file.size()) return refuse.truncated(file.size(), size);
  const ByteView sealed = file.first(size - checksum_bytes);
  if (checksum(sealed) != load_little_endian<std::uint64_t>(&file[size - checksum_bytes])) {
    return refuse.corrupt("the checksum of its header does not hold");
  }
  if (is_newer) return refuse.newer(fmt::format("its version is {}", file_version));
  if (file_version != version || size < fixed_bytes + checksum_bytes) {
    return refuse.corrupt("its header is not one of version 1");
  }
  return sealed;
}

/// The part that every header of version 1 has, as it stands in the file.
struct FixedFields {
  explicit FixedFields(ByteView bytes) {
    Reader in(bytes.subspan(prefix_bytes));
    body_offset = in.number<std::uint64_t>();
    body_size = in.number<std::uint64_t>();
    table_checksum = in.number<std::uint64_t>();
    bytes_a_section = in.number<std::uint32_t>();
    structure = in.number<std::uint16_t>();
    hash = in.number<std::uint8_t>();
    flags = in.number<std::uint8_t>();
    secret_fingerprint = in.number<std::uint64_t>();
    std::ranges::copy(in.take(secret.size()), secret.begin());
    capacity = in.number<std::uint64_t>();
    fpr = in.real();
    generation = in.number<std::uint64_t>();
    created_at = static_cast<std::int64_t>(in.number<std::uint64_t>());
    layer_count = in.number<std::uint16_t>();
    key_type_bytes = in.number<std::uint16_t>();
    position_bytes = in.number<std::uint16_t>();
    origin_bytes = in.number<std::uint16_t>();
  }

  bool has_size(std::uint64_t size) const noexcept {
    return layer_count >= 1 && layer_count <= max_layers &&
           key_type_bytes <= FilterFileInfo::max_key_type_bytes &&
           position_bytes <= FilterFileInfo::max_position_bytes &&
           origin_bytes <= FilterFileInfo::max_origin_bytes &&
           size == header_size(layer_count, key_type_bytes + position_bytes + origin_bytes);
  }

  /// What it says of the header; layers and texts are still missing.
  FilterFileHeader header() const {
    FilterFileHeader header;
    header.shape.structure = static_cast<Structure>(structure);
    header.shape.capacity = capacity;
    header.shape.fpr = fpr;
    header.hash = static_cast<HashKind>(hash);
    header.secret_fingerprint = secret_fingerprint;
    if ((flags & stores_secret) != 0) header.secret = Secret(secret);
    header.info.generation = generation;
    header.info.created_at = std::chrono::sys_seconds(std::chrono::seconds(created_at));
    header.body_offset = body_offset;
    header.body_size = body_size;
    return header;
  }

  std::uint64_t body_offset, body_size, table_checksum;
  std::uint32_t bytes_a_section;
  std::uint16_t structure;
  std::uint8_t hash, flags;
  std::uint64_t secret_fingerprint;
  std::array<std::byte, Secret::size> secret;
  std::uint64_t capacity;
  double fpr;
  std::uint64_t generation;
  std::int64_t created_at;
  std::size_t layer_count, key_type_bytes, position_bytes, origin_bytes;
};

/// Numbers without a meaning under a checksum that holds come from a later build, not from damage.
Result<void> check_numbers(const FixedFields& fixed, const Refusal& refuse) {
  if (fixed.bytes_a_section != section_bytes) {
    return refuse.newer(fmt::format("its sections have {} bytes", fixed.bytes_a_section));
  }
  if (fixed.structure < 1 || fixed.structure > static_cast<int>(Structure::cuckoo)) {
    return refuse.newer(fmt::format("its structure is number {}", fixed.structure));
  }
  if (fixed.hash < 1 || fixed.hash > static_cast<int>(HashKind::xxh64)) {
    return refuse.newer(fmt::format("its hash is number {}", fixed.hash));
  }
  if ((fixed.flags & ~stores_secret) != 0) {
    return refuse.newer(fmt::format("its flags are {}", fixed.flags));
  }
  if ((fixed.flags & stores_secret) == 0 && Secret(fixed.secret) != Secret()) {
    return refuse.corrupt("it has a secret and says that it has none");
  }
  return {};
}

Result<LayerShape> decode_layer(Reader& in, std::size_t index, const Refusal& refuse) {
  LayerShape layer;
  layer.layout = in.number<std::uint32_t>();
  layer.probes = in.number<std::uint32_t>();
  layer.unit_bits = in.number<std::uint32_t>();
  const auto first_reserved = in.number<std::uint32_t>();
  layer.units = in.number<std::uint64_t>();
  layer.capacity = in.number<std::uint64_t>();
  layer.fpr = in.real();
  layer.items = in.number<std::uint64_t>();
  layer.size_bytes = in.number<std::uint64_t>();
  const auto second_reserved = in.number<std::uint64_t>();
  if (first_reserved != 0 || second_reserved != 0) return refuse.newer("it uses a reserved field");
  if (!is_rate(layer.fpr) || layer.size_bytes == 0 || layer.size_bytes > max_layer_bytes) {
    return refuse.corrupt(fmt::format("layer {} has impossible parameters", index));
  }
  return layer;
}

Result<void> check_content(const FilterFileHeader& header, const Refusal& refuse) {
  if (!is_rate(header.shape.fpr)) return refuse.corrupt("its false positive rate is impossible");
  if (header.secret && header.secret->fingerprint() != header.secret_fingerprint) {
    return refuse.corrupt("its secret has another fingerprint than it says");
  }
  const FilterFileInfo& info = header.info;
  if (!is_printable(info.key_type) || !is_printable(info.position) || !is_printable(info.origin)) {
    return refuse.corrupt("its texts cannot be printed");
  }
  return {};
}

Result<void> check_placement(const FilterFileHeader& header, std::uint64_t table_checksum,
                             ByteView file, const Refusal& refuse) {
  FilterFileHeader expected = header;
  place_body(expected);
  if (header.body_size != expected.body_size || header.body_offset != expected.body_offset) {
    return refuse.corrupt("its header contradicts itself about where the body is");
  }
  const std::uint64_t end = header.body_offset + header.body_size;
  if (file.size() < end) return refuse.truncated(file.size(), end);
  if (file.size() > end) {
    return refuse.corrupt(fmt::format("{} bytes follow its end", file.size() - end));
  }
  const ByteView table = table_of(file, header);
  if (checksum(table) != table_checksum) {
    return refuse.corrupt("the checksum of its table of checksums does not hold");
  }
  const std::uint64_t table_end = header_size(header) + table.size();
  const ByteView padding = file.subspan(table_end, header.body_offset - table_end);
  if (!std::ranges::all_of(padding, [](std::byte byte) { return byte == std::byte{0}; })) {
    return refuse.corrupt("there is something between its table and its body");
  }
  return {};
}

}  // namespace

Result<FilterFileHeader> decode_header(ByteView file, const std::string& name) {
  const Refusal refuse(name);
  const auto sealed = sealed_header(file, refuse);
  if (!sealed) return fail(sealed.error());
  const FixedFields fixed(sealed->first(fixed_bytes));
  if (auto known = check_numbers(fixed, refuse); !known) return fail(std::move(known).error());
  if (!fixed.has_size(sealed->size() + checksum_bytes)) {
    return refuse.corrupt("its header has not the size that its parts have");
  }
  FilterFileHeader header = fixed.header();
  Reader rest(sealed->subspan(fixed_bytes));
  for (std::size_t i = 0; i < fixed.layer_count; ++i) {
    auto layer = decode_layer(rest, i, refuse);
    if (!layer) return fail(std::move(layer).error());
    header.shape.layers.push_back(*layer);
  }
  header.info.key_type = rest.text(fixed.key_type_bytes);
  header.info.position = rest.text(fixed.position_bytes);
  header.info.origin = rest.text(fixed.origin_bytes);
  if (auto sound = check_content(header, refuse); !sound) return fail(std::move(sound).error());
  if (auto placed = check_placement(header, fixed.table_checksum, file, refuse); !placed) {
    return fail(std::move(placed).error());
  }
  return header;
}

}  // namespace guestlist::filter_file
