#include "core/bloom_rdb.hpp"

#include <xxhash.h>

#include <cmath>
#include <cstring>

#include "core/arriving_bits.hpp"
#include "core/bloom_dump.hpp"
#include "core/byte_stream.hpp"

namespace guestlist::server {
namespace {

tl::unexpected<Error> bad(const char* what) {
  return fail(Errc::corrupt, what);
}

/// A layer of a file; nothing where it cannot be.
Result<ClassicLayer> load_classic_layer(ValueReader& in, int encoding) {
  ClassicLayerShape shape;
  shape.capacity = in.number();
  shape.fpr = in.real();
  const std::uint64_t hashes = in.number();
  shape.bits_per_item = in.real();
  if (encoding >= 1) {
    shape.bits = in.number();
    const std::uint64_t log2_bits = in.number();
    if (log2_bits > 63) return bad("a layer of 2^64 bits");
    shape.log2_bits = static_cast<std::uint8_t>(log2_bits);
  } else {
    const double bits = static_cast<double>(shape.capacity) * shape.bits_per_item;
    if (!(bits >= 0 && bits < 1e18)) return bad("a layer whose size is no number");
    shape.bits = static_cast<std::uint64_t>(bits);
  }
  const ReadString bits = in.string();
  shape.items = in.number();
  if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
  if (hashes > ClassicLayer::max_hashes) return bad("more hashes than any rate asks for");
  shape.hashes = static_cast<std::uint32_t>(hashes);
  shape.bytes = bits.size();
  if (!is_trustworthy(shape)) return bad("a layer that cannot be");
  ArrivingBits arriving(shape.bytes);
  if (auto taken = arriving.take(bits.bytes()); !taken) return fail(std::move(taken).error());
  return ClassicLayer(shape, arriving.finish());
}

constexpr std::string_view sealed_magic = "GLCLASS\1";
constexpr std::size_t seal_bytes = 8;

/// A classic header between a magic and a checksum, which it lacks by itself.
std::string sealed(const std::string& header) {
  ByteWriter out;
  out.put(as_bytes(sealed_magic));
  out.put(as_bytes(header));
  out.put(static_cast<std::uint64_t>(XXH3_64bits(out.text().data(), out.text().size())));
  return out.take();
}
bool is_sealed(ByteView bytes) noexcept {
  return bytes.size() >= sealed_magic.size() + seal_bytes &&
         as_text(bytes.first(sealed_magic.size())) == sealed_magic;
}
Result<ClassicHeader> unsealed(ByteView bytes) {
  const ByteView body = bytes.first(bytes.size() - seal_bytes);
  if (load_little_endian<std::uint64_t>(bytes.last(seal_bytes).data()) !=
      XXH3_64bits(body.data(), body.size()))
    return bad("the header's checksum does not hold");
  return parse_classic_header(body.subspan(sealed_magic.size()));
}

Result<BitMemory> load_bits(ValueReader& in, std::uint64_t size_bytes) {
  ArrivingBits arriving(size_bytes);
  while (arriving.missing() > 0) {
    const ReadString piece = in.string();
    if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
    if (piece.size() != std::min(arriving.missing(), max_chunk_bytes))
      return bad("a piece that is no piece of its layer");
    if (auto taken = arriving.take(piece.bytes()); !taken) return fail(std::move(taken).error());
  }
  BitMemory bits = arriving.finish();
  const std::uint64_t checksum = in.number();
  if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
  if (checksum != XXH3_64bits(bits.data(), bits.size_bytes()))
    return bad("the checksum of a layer does not hold");
  return bits;
}

template <class Layer, class Shape>
Result<std::vector<Layer>> load_layers(ValueReader& in, const std::vector<Shape>& shapes) {
  std::vector<Layer> layers;
  for (const Shape& shape : shapes) {
    auto bits = load_bits(in, shape_bytes(shape));
    if (!bits) return fail(std::move(bits).error());
    layers.emplace_back(shape, *std::move(bits));
  }
  return layers;
}

Result<BloomValue> load_own_classic(ValueReader& in, ByteView text) {
  auto header = unsealed(text);
  if (!header) return fail(std::move(header).error());
  auto layers = load_layers<ClassicLayer>(in, header->layers);
  if (!layers) return fail(std::move(layers).error());
  return BloomValue(classic_chain(header->plan, *std::move(layers), header->items));
}

Result<BloomValue> load_own_native(ValueReader& in, ByteView text) {
  auto header = parse_native_header(text);
  if (!header) return fail(std::move(header).error());
  auto layers = load_layers<NativeLayer>(in, header->layers);
  if (!layers) return fail(std::move(layers).error());
  return BloomValue(NativeChain(header->plan, KeyHasher::siphash(header->secret),
                                *std::move(layers), header->items));
}

}  // namespace

void save_classic_bloom(const ClassicChain& chain, ValueWriter& out) {
  out.number(chain.items());
  out.number(chain.layers().size());
  out.number(chain.plan().options);
  out.number(chain.plan().growth);
  for (const ClassicLayer& layer : chain.layers()) {
    const ClassicLayerShape& shape = layer.shape();
    out.number(shape.capacity);
    out.real(shape.fpr);
    out.number(shape.hashes);
    out.real(shape.bits_per_item);
    out.number(shape.bits);
    out.number(shape.log2_bits);
    out.string(layer.bits().bytes());
    out.number(shape.items);
  }
}

Result<BloomValue> load_classic_bloom(ValueReader& in, int encoding) {
  if (encoding > classic_bloom_encoding)
    return fail(Errc::newer_version, "a later version's filter");
  in.number();  // the items, which are the layers' sum wherever it matters
  const std::uint64_t count = in.number();
  ChainPlan plan;
  const std::uint64_t options = encoding >= 2 ? in.number() : 0;
  const std::uint64_t growth = encoding >= 4 ? in.number() : 2;
  if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
  if (count == 0 || count > ClassicChain::max_layers) return bad("an impossible number of layers");
  if (options > classic_options_known || growth > UINT32_MAX) return bad("unknown options");
  plan.options = static_cast<std::uint32_t>(options);
  plan.growth = static_cast<std::uint32_t>(growth);
  std::vector<ClassicLayer> layers;
  // Dumps are refused where the sum does not hold, so a filter that has another one could not be
  // written to the server's log. It is added up anew.
  std::uint64_t items = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto layer = load_classic_layer(in, encoding);
    if (!layer) return fail(std::move(layer).error());
    items += layer->items();
    layers.push_back(*std::move(layer));
  }
  return BloomValue(classic_chain(plan, std::move(layers), items));
}

void save_own_bloom(const BloomValue& value, ValueWriter& out) {
  const std::string header = bloom_header(value);
  out.string(as_bytes(value.is_native() ? header : sealed(header)));
  value.visit([&out](const auto& chain) {
    for (const auto& layer : chain.layers()) {
      const ByteView bits = layer.bits().bytes();
      for (std::size_t start = 0; start < bits.size(); start += max_chunk_bytes)
        out.string(
            bits.subspan(start, std::min<std::size_t>(bits.size() - start, max_chunk_bytes)));
      out.number(XXH3_64bits(bits.data(), bits.size()));
    }
  });
  save_load(value.load(), out);
}

Result<BloomValue> load_own_bloom(ValueReader& in, int encoding) {
  if (encoding > own_bloom_encoding) return fail(Errc::newer_version, "a later version's filter");
  const ReadString text = in.string();
  if (in.has_failed()) return fail(Errc::truncated, "the filter ends early");
  auto value = is_sealed(text.bytes()) ? load_own_classic(in, text.bytes())
                                       : load_own_native(in, text.bytes());
  if (!value) return value;
  const auto load = read_load(in);
  if (!load) return fail(load.error());
  value->set_load(*load);
  return value;
}

}  // namespace guestlist::server
