#include "core/cuckoo_rdb.hpp"

#include <xxhash.h>

#include "core/arriving_bits.hpp"
#include "core/cuckoo_dump.hpp"

namespace guestlist::server {
namespace {

tl::unexpected<Error> bad(const char* what) {
  return fail(Errc::corrupt, what);
}
tl::unexpected<Error> ends_early() {
  return fail(Errc::truncated, "the filter ends early");
}

CuckooLayer layer_of(const CuckooPlan& plan, std::uint64_t index, BitMemory slots) {
  return {CuckooChain::buckets_of_layer(plan, index), plan.bucket_size, std::move(slots)};
}

CuckooChain chain_of(const CuckooHeader& header, std::vector<CuckooLayer> layers) {
  return {header.plan, std::move(layers), header.items, header.deletes, header.past};
}

/// A number of a field that has 16 bits.
bool read_short(ValueReader& in, std::uint16_t& value) {
  const std::uint64_t number = in.number();
  value = static_cast<std::uint16_t>(number);
  return number <= UINT16_MAX;
}

Result<BitMemory> load_pieces(ValueReader& in, std::uint64_t size_bytes) {
  ArrivingBits arriving(size_bytes);
  while (arriving.missing() > 0) {
    const ReadString piece = in.string();
    if (in.has_failed()) return ends_early();
    if (piece.size() != std::min(arriving.missing(), max_chunk_bytes))
      return bad("a piece that is no piece of its table");
    if (auto taken = arriving.take(piece.bytes()); !taken) return fail(std::move(taken).error());
  }
  BitMemory slots = arriving.finish();
  const std::uint64_t checksum = in.number();
  if (in.has_failed()) return ends_early();
  if (checksum != XXH3_64bits(slots.data(), slots.size_bytes()))
    return bad("the checksum of a table does not hold");
  return slots;
}

}  // namespace

void save_strict_cuckoo(const CuckooChain& chain, ValueWriter& out) {
  const CuckooPlan& plan = chain.plan();
  out.number(chain.layers().size());
  out.number(plan.buckets);
  out.number(chain.items());
  out.number(chain.deletes());
  out.number(plan.bucket_size);
  out.number(plan.max_iterations);
  out.number(plan.expansion);
  for (const CuckooLayer& layer : chain.layers()) {
    out.number(layer.buckets());
    out.string(layer.bits().bytes());
  }
}

Result<CuckooChain> load_strict_cuckoo(ValueReader& in, int encoding) {
  if (encoding > strict_cuckoo_encoding)
    return fail(Errc::newer_version, "a later version's filter");
  if (encoding < strict_cuckoo_encoding)
    return fail(Errc::foreign_format, "a filter of before 2019, which has another hash");
  CuckooHeader header;
  CuckooPlan& plan = header.plan;
  plan.is_strict = true;
  header.layers = in.number();
  plan.buckets = in.number();
  header.items = in.number();
  header.deletes = in.number();
  const bool fits = read_short(in, plan.bucket_size) & read_short(in, plan.max_iterations) &
                    read_short(in, plan.expansion);
  if (in.has_failed()) return ends_early();
  if (!fits || !is_trustworthy(header)) return bad("a filter that cannot be");
  std::vector<CuckooLayer> layers;
  for (std::uint64_t index = 0; index < header.layers; ++index) {
    const std::uint64_t buckets = in.number();
    const ReadString text = in.string();
    if (in.has_failed()) return ends_early();
    if (buckets != CuckooChain::buckets_of_layer(plan, index) ||
        text.size() != buckets * plan.bucket_size)
      return bad("a table that is not as large as it says");
    ArrivingBits arriving(text.size());
    if (auto taken = arriving.take(text.bytes()); !taken) return fail(std::move(taken).error());
    layers.push_back(layer_of(plan, index, arriving.finish()));
  }
  return chain_of(header, std::move(layers));
}

void save_own_cuckoo(const CuckooChain& chain, ValueWriter& out) {
  out.string(as_bytes(own_cuckoo_header(chain)));
  for (const CuckooLayer& layer : chain.layers()) {
    const ByteView slots = layer.bits().bytes();
    for (std::size_t start = 0; start < slots.size(); start += max_chunk_bytes)
      out.string(
          slots.subspan(start, std::min<std::size_t>(slots.size() - start, max_chunk_bytes)));
    out.number(XXH3_64bits(slots.data(), slots.size()));
  }
  save_load(chain.load(), out);
}

Result<CuckooChain> load_own_cuckoo(ValueReader& in, int encoding) {
  if (encoding > own_cuckoo_encoding) return fail(Errc::newer_version, "a later version's filter");
  const ReadString text = in.string();
  if (in.has_failed()) return ends_early();
  auto header = parse_cuckoo_header(text.bytes());
  if (!header) return fail(std::move(header).error());
  if (text.size() != own_cuckoo_header_bytes) return bad("the header of another format");
  std::vector<CuckooLayer> layers;
  for (std::uint64_t index = 0; index < header->layers; ++index) {
    const std::uint64_t buckets = CuckooChain::buckets_of_layer(header->plan, index);
    auto slots = load_pieces(in, buckets * header->plan.bucket_size);
    if (!slots) return fail(std::move(slots).error());
    layers.push_back(layer_of(header->plan, index, *std::move(slots)));
  }
  const auto load = read_load(in);
  if (!load) return fail(load.error());
  CuckooChain chain = chain_of(*header, std::move(layers));
  chain.set_load(*load);
  return chain;
}

}  // namespace guestlist::server
