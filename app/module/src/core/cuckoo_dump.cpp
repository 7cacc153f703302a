#include "core/cuckoo_dump.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "core/byte_stream.hpp"

namespace guestlist::server {
namespace {

constexpr std::string_view magic = "GLCUCKO";
constexpr std::uint8_t version = 1;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t old_bytes = 32;
constexpr std::size_t strict_bytes = 38;
// With a pointer at its end that somebody's memory once had.
constexpr std::size_t strict_bytes_with_pointer = 46;

// How a filter walks and hashes.
enum Kind : std::uint8_t { kind_own = 0, kind_strict = 1, kind_old_hash = 2 };

tl::unexpected<Error> bad(const char* what) {
  return fail(Errc::corrupt, what);
}

std::uint64_t checksum(ByteView bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void put_old_fields(ByteWriter& out, const CuckooChain& chain) {
  out.put(chain.items());
  out.put(chain.plan().buckets);
  out.put(chain.deletes());
  out.put(static_cast<std::uint64_t>(chain.layers().size()));
}

void put_fields(ByteWriter& out, const CuckooChain& chain) {
  put_old_fields(out, chain);
  out.put(chain.plan().bucket_size);
  out.put(chain.plan().max_iterations);
  out.put(chain.plan().expansion);
}

/// What is not in the header is as it always was then.
CuckooHeader get_old_fields(ByteReader& in) {
  CuckooHeader header;
  header.items = in.get<std::uint64_t>();
  header.plan.buckets = in.get<std::uint64_t>();
  header.deletes = in.get<std::uint64_t>();
  header.layers = in.get<std::uint64_t>();
  return header;
}

CuckooHeader get_fields(ByteReader& in) {
  CuckooHeader header = get_old_fields(in);
  header.plan.bucket_size = in.get<std::uint16_t>();
  header.plan.max_iterations = in.get<std::uint16_t>();
  header.plan.expansion = in.get<std::uint16_t>();
  return header;
}

void set_kind(CuckooPlan& plan, std::uint8_t kind) noexcept {
  plan.is_strict = kind != kind_own;
  plan.has_old_hash = kind == kind_old_hash;
}

bool is_own(ByteView header) noexcept {
  return header.size() >= magic.size() && as_text(header.first(magic.size())) == magic;
}

Result<CuckooHeader> parse_own(ByteView bytes) {
  if (bytes.size() <= magic.size()) return fail(Errc::truncated, "the header ends early");
  if (std::to_integer<std::uint8_t>(bytes[magic.size()]) != version)
    return fail(Errc::newer_version, "a later version's header");
  if (bytes.size() != own_cuckoo_header_bytes)
    return fail(Errc::truncated, "a header of another length");
  if (load_little_endian<std::uint64_t>(bytes.last(checksum_bytes).data()) !=
      checksum(bytes.first(own_cuckoo_header_bytes - checksum_bytes)))
    return bad("the header's checksum does not hold");
  ByteReader in(bytes.subspan(magic.size() + 1));
  CuckooHeader header = get_fields(in);
  const auto kind = in.get<std::uint8_t>();
  const auto events = in.get<std::uint8_t>();
  if (kind > kind_old_hash || events > Past::all_events) return bad("a kind that is not known");
  set_kind(header.plan, kind);
  header.past = Past(events);
  return header;
}

}  // namespace

bool is_trustworthy(const CuckooHeader& header) noexcept {
  const CuckooPlan& plan = header.plan;
  if (!CuckooLayer::is_possible(plan.buckets, plan.bucket_size) || plan.max_iterations == 0 ||
      plan.expansion > 32768 || (plan.expansion != 0 && !std::has_single_bit(plan.expansion)))
    return false;
  if (header.layers == 0 || header.layers > CuckooChain::max_layers) return false;
  std::uint64_t slots = 0;
  for (std::uint64_t index = 0; index < header.layers; ++index) {
    const std::uint64_t buckets = CuckooChain::buckets_of_layer(plan, index);
    if (buckets == 0) return false;
    slots += buckets * plan.bucket_size;
    if (slots > CuckooLayer::max_bytes) return false;
  }
  return header.items <= slots;
}

std::string cuckoo_header(const CuckooChain& chain) {
  if (!chain.plan().is_strict) return own_cuckoo_header(chain);
  ByteWriter out;
  if (chain.plan().has_old_hash) {
    put_old_fields(out, chain);
  } else {
    put_fields(out, chain);
  }
  return out.take();
}

std::string own_cuckoo_header(const CuckooChain& chain) {
  const CuckooPlan& plan = chain.plan();
  ByteWriter out;
  out.put(as_bytes(magic));
  out.put(version);
  put_fields(out, chain);
  out.put(static_cast<std::uint8_t>(plan.has_old_hash ? kind_old_hash
                                    : plan.is_strict  ? kind_strict
                                                      : kind_own));
  out.put(chain.past().events());
  out.put(checksum(as_bytes(out.text())));
  return out.take();
}

Result<CuckooHeader> parse_cuckoo_header(ByteView bytes) {
  CuckooHeader header;
  if (is_own(bytes)) {
    auto own = parse_own(bytes);
    if (!own) return fail(std::move(own).error());
    header = *own;
  } else {
    ByteReader in(bytes);
    if (bytes.size() == old_bytes) {
      header = get_old_fields(in);
      set_kind(header.plan, kind_old_hash);
    } else if (bytes.size() == strict_bytes || bytes.size() == strict_bytes_with_pointer) {
      header = get_fields(in);
      set_kind(header.plan, kind_strict);
    } else {
      return fail(Errc::truncated, "a header of another length");
    }
  }
  if (!is_trustworthy(header)) return bad("a filter that cannot be");
  return header;
}

Result<CuckooChain> cuckoo_from_header(const CuckooHeader& header, const MemoryLimit& limit) {
  std::uint64_t bytes = 0;
  for (std::uint64_t index = 0; index < header.layers; ++index)
    bytes += CuckooChain::buckets_of_layer(header.plan, index) * header.plan.bucket_size;
  if (limit.ask(0, bytes) != MemoryLimit::Answer::yes)
    return fail(Errc::too_large, "there is no memory for the filter");
  std::vector<CuckooLayer> layers;
  for (std::uint64_t index = 0; index < header.layers; ++index) {
    auto layer = CuckooLayer::make(CuckooChain::buckets_of_layer(header.plan, index),
                                   header.plan.bucket_size);
    if (!layer) return fail(std::move(layer).error());
    layers.push_back(*std::move(layer));
  }
  CuckooChain chain(header.plan, std::move(layers), header.items, header.deletes, header.past);
  if (header.items != 0) chain.set_load({bytes, 0});
  return chain;
}

Chunk cuckoo_chunk(const CuckooChain& chain, std::uint64_t iterator) {
  return chunk_of(chain.layers(), iterator);
}

bool load_cuckoo_chunk(CuckooChain& chain, std::int64_t iterator, ByteView bytes) {
  if (iterator <= 1 || static_cast<std::uint64_t>(iterator) - 1 < bytes.size()) return false;
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  const ChunkPlace place = place_of(chain.layers(), end + 1, bytes.size());
  if (place.fit != ChunkPlace::Fit::fits) return false;
  if (chain.is_whole() && !std::ranges::equal(bytes, place.bytes)) chain.note(Past::overwritten);
  std::ranges::copy(bytes, place.bytes.begin());
  ChunkLoad load = bytes.empty() ? ChunkLoad{chain.size_bytes(), end} : chain.load();
  load.take(place.start, end);
  chain.set_load(load);
  return true;
}

}  // namespace guestlist::server
