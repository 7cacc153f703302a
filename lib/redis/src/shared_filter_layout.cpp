#include "guestlist/redis/shared_filter_layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <tuple>

#include "guestlist/base/bytes.hpp"
#include "guestlist/filter/block_bits.hpp"
#include "guestlist/filter/block_sizing.hpp"
#include "guestlist/redis/key_slot.hpp"

namespace guestlist {
namespace {

constexpr std::size_t max_name_bytes = 200;
constexpr std::string_view segment_magic = "GLSEG\x01\r\n";

template <class Layout>
LineBits place(const ShardGeometry& geometry, std::uint64_t hash) noexcept {
  const auto line = Layout::block_of(hash, geometry.lines);
  LineBits out;
  out.segment = line / geometry.lines_per_segment;
  out.offset =
      ShardGeometry::header_bytes + line % geometry.lines_per_segment * ShardGeometry::line_bytes;
  const auto bits = Layout::bits_of(hash);
  for (std::size_t word = 0; word < Layout::words; ++word) {
    store_little_endian(out.mask.data() + word * 8, Layout::mask(bits, word));
  }
  return out;
}

template <class Number>
bool read_number(std::string_view text, Number& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

tl::unexpected<Error> unknown_parameters(std::string_view what) {
  return fail(Errc::foreign_format,
              fmt::format("the filter's parameters in Redis have {}; they were written by another "
                          "program or a later version",
                          what));
}

}  // namespace

Result<void> check_shared_filter_name(std::string_view name) {
  const auto bad = [](char c) {
    return c == '{' || c == '}' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  };
  if (name.empty() || name.size() > max_name_bytes || std::any_of(name.begin(), name.end(), bad)) {
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is no name for a filter in Redis: give 1 to {} bytes without "
                            "braces and control characters",
                            name, max_name_bytes));
  }
  return {};
}

ShardKeys::ShardKeys(std::string_view filter, std::uint32_t shard)
    : prefix_(fmt::format("guestlist:{{{}/{}}}:", filter, shard)),
      state_(prefix_ + "state"),
      log_(prefix_ + "log"),
      slot_(key_slot(prefix_)) {}

std::string ShardKeys::segment(std::uint64_t generation, std::uint64_t index) const {
  return fmt::format("{}{}:{}", prefix_, generation, index);
}

std::uint32_t shard_of(std::string_view key, const Secret& shard_secret,
                       std::uint32_t shards) noexcept {
  if (shards == 1) {
    return 0;
  }
  return static_cast<std::uint32_t>(
      multiply_high(KeyHasher::siphash(shard_secret)(key).value, shards));
}

std::string GenerationParameters::text() const {
  return fmt::format(
      "layout={} lines={} segment_lines={} hash={} secret={} capacity={} fpr={} items={} "
      "created={}",
      name(geometry.layout), geometry.lines, geometry.lines_per_segment, name(hasher.kind()),
      to_hex(hasher.secret().bytes()), capacity, fpr, items, created_unix);
}

Result<GenerationParameters> GenerationParameters::parse(std::string_view text) {
  std::map<std::string_view, std::string_view> fields;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto field = text.substr(0, end);
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) {
      return unknown_parameters("a field without a value");
    }
    fields[field.substr(0, equals)] = field.substr(equals + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  GenerationParameters out;
  const auto layout = fields["layout"];
  if (layout == name(BlockLayout::split_line)) {
    out.geometry.layout = BlockLayout::split_line;
  } else if (layout == name(BlockLayout::split_line_16)) {
    out.geometry.layout = BlockLayout::split_line_16;
  } else {
    return unknown_parameters(fmt::format("the layout '{}'", layout));
  }
  const auto secret_bytes = from_hex(fields["secret"]);
  if (!secret_bytes || secret_bytes->size() != Secret::size) {
    return unknown_parameters("no secret of 16 bytes");
  }
  std::array<std::byte, Secret::size> raw{};
  std::copy(secret_bytes->begin(), secret_bytes->end(), raw.begin());
  const auto hash = fields["hash"];
  if (hash == name(HashKind::siphash)) {
    out.hasher = KeyHasher::siphash(Secret(raw));
  } else if (hash == name(HashKind::xxh3)) {
    out.hasher = KeyHasher::xxh3(Secret(raw));
  } else {
    return unknown_parameters(fmt::format("the hash '{}'", hash));
  }
  if (!read_number(fields["lines"], out.geometry.lines) ||
      !read_number(fields["segment_lines"], out.geometry.lines_per_segment) ||
      !read_number(fields["capacity"], out.capacity) || !read_number(fields["fpr"], out.fpr) ||
      !read_number(fields["items"], out.items) ||
      !read_number(fields["created"], out.created_unix)) {
    return unknown_parameters("a number that cannot be read");
  }
  if (out.geometry.lines == 0 || out.geometry.lines > max_blocks(out.geometry.layout) ||
      out.geometry.lines_per_segment == 0 ||
      out.geometry.lines_per_segment > (std::uint64_t{512} << 20) / ShardGeometry::line_bytes ||
      !(out.fpr > 0 && out.fpr < 1)) {
    return fail(Errc::corrupt, "the filter's parameters in Redis are impossible; build it again");
  }
  return out;
}

bool LineBits::is_set_in(std::string_view line) const noexcept {
  std::uint64_t missing = 0;
  for (std::size_t at = 0; at < mask.size(); at += 8) {
    missing |= load_little_endian<std::uint64_t>(mask.data() + at) &
               ~load_little_endian<std::uint64_t>(line.data() + at);
  }
  return missing == 0;
}

LineBits line_bits(const GenerationParameters& parameters, KeyHash hash) noexcept {
  return parameters.geometry.layout == BlockLayout::split_line_16
             ? place<SplitLine16>(parameters.geometry, hash.value)
             : place<SplitLine>(parameters.geometry, hash.value);
}

std::string segment_header(const GenerationParameters& parameters, std::uint64_t generation,
                           std::uint32_t shard, std::uint64_t segment) {
  std::string header(ShardGeometry::header_bytes, '\0');
  std::memcpy(header.data(), segment_magic.data(), segment_magic.size());
  store_little_endian(header.data() + 8, generation);
  store_little_endian(header.data() + 16, segment);
  store_little_endian(header.data() + 24, parameters.geometry.lines);
  store_little_endian(header.data() + 32, parameters.geometry.lines_per_segment);
  store_little_endian(header.data() + 40, parameters.hasher.secret().fingerprint());
  store_little_endian(header.data() + 48, shard);
  store_little_endian(header.data() + 52, static_cast<std::uint32_t>(parameters.geometry.layout));
  store_little_endian(header.data() + 56,
                      KeyHasher::xxh64()(std::string_view(header).substr(0, 56)).value);
  return header;
}

std::string pack_keys(const std::vector<std::string_view>& keys) {
  std::string out;
  for (const auto key : keys) {
    std::array<char, 4> length{};
    store_little_endian(length.data(), static_cast<std::uint32_t>(key.size()));
    out.append(length.data(), length.size());
    out += key;
  }
  return out;
}

Result<std::vector<std::string_view>> unpack_keys(std::string_view packed) {
  std::vector<std::string_view> keys;
  while (!packed.empty()) {
    const auto length = packed.size() < 4 ? std::size_t{0xFFFFFFFF}
                                          : load_little_endian<std::uint32_t>(packed.data());
    if (packed.size() < 4 || packed.size() - 4 < length) {
      return fail(Errc::corrupt, "an entry of the filter's log in Redis is cut short");
    }
    keys.push_back(packed.substr(4, length));
    packed.remove_prefix(4 + length);
  }
  return keys;
}

}  // namespace guestlist
