#include "core/bloom_dump.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/byte_stream.hpp"

namespace guestlist::server {
namespace {

constexpr std::string_view native_magic = "GLBLOOM";
constexpr std::uint8_t native_version = 1;
constexpr std::uint32_t flag_fixed = 1;
constexpr std::size_t native_fixed_bytes = 72;
constexpr std::size_t native_layer_bytes = 40;
constexpr std::size_t checksum_bytes = 8;

constexpr std::size_t classic_fixed_bytes = 20;
constexpr std::size_t classic_layer_bytes = 53;

tl::unexpected<Error> bad(const char* what) {
  return fail(Errc::corrupt, what);
}

bool is_share(double value) noexcept {
  return value > 0 && value <= 1;
}

std::string classic_header(const ClassicChain& chain) {
  ByteWriter out;
  out.put(chain.items());
  out.put(static_cast<std::uint32_t>(chain.layers().size()));
  out.put(chain.plan().options);
  out.put(chain.plan().growth);
  for (const ClassicLayer& layer : chain.layers()) {
    const ClassicLayerShape& shape = layer.shape();
    out.put(shape.bytes);
    out.put(shape.bits);
    out.put(shape.items);
    out.put(shape.fpr);
    out.put(shape.bits_per_item);
    out.put(shape.hashes);
    out.put(shape.capacity);
    out.put(shape.log2_bits);
  }
  return out.take();
}

}  // namespace

Result<ClassicHeader> parse_classic_header(ByteView header) {
  if (header.size() < classic_fixed_bytes + classic_layer_bytes) return bad("the header is short");
  ByteReader in(header);
  ClassicHeader out;
  out.items = in.get<std::uint64_t>();
  const auto count = in.get<std::uint32_t>();
  out.plan.options = in.get<std::uint32_t>();
  out.plan.growth = in.get<std::uint32_t>();
  if (in.left() != std::uint64_t{count} * classic_layer_bytes || count == 0 ||
      count > ClassicChain::max_layers)
    return bad("the header's length is not that of its layers");
  if (out.plan.options > classic_options_known) return bad("unknown options");
  out.layers.resize(count);
  std::uint64_t sum = 0;
  for (ClassicLayerShape& shape : out.layers) {
    shape.bytes = in.get<std::uint64_t>();
    shape.bits = in.get<std::uint64_t>();
    shape.items = in.get<std::uint64_t>();
    shape.fpr = in.get_double();
    shape.bits_per_item = in.get_double();
    shape.hashes = in.get<std::uint32_t>();
    shape.capacity = in.get<std::uint64_t>();
    shape.log2_bits = in.get<std::uint8_t>();
    if (!is_trustworthy(shape)) return bad("a layer that cannot be");
    sum += shape.items;
  }
  if (!in.is_exact() || sum != out.items) return bad("the layers' items do not add up");
  return out;
}

namespace {

Result<BloomValue> classic_from_header(ByteView header, const MemoryLimit& limit) {
  auto parsed = parse_classic_header(header);
  if (!parsed) return fail(std::move(parsed).error());
  std::uint64_t bytes = 0;
  for (const ClassicLayerShape& shape : parsed->layers) bytes += shape.bytes;
  if (limit.ask(0, bytes) != MemoryLimit::Answer::yes)
    return fail(Errc::too_large, "Insufficient memory to create filter");
  std::vector<ClassicLayer> layers;
  for (const ClassicLayerShape& shape : parsed->layers) {
    auto layer = ClassicLayer::make(shape);
    if (!layer) return fail(std::move(layer).error());
    layer->set_items(shape.items);
    layers.push_back(*std::move(layer));
  }
  return BloomValue(classic_chain(parsed->plan, std::move(layers), parsed->items));
}

}  // namespace

bool is_trustworthy(const ClassicLayerShape& shape) noexcept {
  if (!ClassicLayer::is_possible(shape) || shape.capacity > ClassicChain::max_capacity * 4 ||
      shape.items > std::uint64_t{1} << 56)
    return false;
  // The number of hashes follows from the rate: a header cannot make a query cost what it likes.
  return shape.hashes == ClassicLayer::plan(1, shape.fpr).hashes;
}

ClassicChain classic_chain(ChainPlan plan, std::vector<ClassicLayer> layers, std::uint64_t items) {
  plan.is_scaling = (plan.options & classic_option_fixed) == 0;
  const ClassicLayerShape& first = layers.front().shape();
  plan.capacity = first.capacity;
  plan.fpr = plan.is_scaling ? first.fpr * 2 : first.fpr;
  return {plan, ClassicHasher((plan.options & classic_option_64_bit) != 0), std::move(layers),
          items};
}

std::string native_header(const NativeChain& chain) {
  const ChainPlan& plan = chain.plan();
  ByteWriter out;
  out.put(as_bytes(native_magic));
  out.put(native_version);
  out.put(plan.is_scaling ? std::uint32_t{0} : flag_fixed);
  out.put(plan.growth);
  out.put(plan.fpr);
  out.put(plan.first_share);
  out.put(plan.tightening);
  out.put(chain.items());
  out.put(chain.hasher().secret().bytes());
  out.put(static_cast<std::uint32_t>(chain.hasher().kind()));
  out.put(static_cast<std::uint32_t>(chain.layers().size()));
  for (const NativeLayer& layer : chain.layers()) {
    const NativeLayerShape& shape = layer.shape();
    out.put(std::uint64_t{static_cast<std::uint8_t>(shape.layout)});
    out.put(shape.blocks);
    out.put(shape.capacity);
    out.put(shape.fpr);
    out.put(shape.items);
  }
  out.put(static_cast<std::uint64_t>(XXH3_64bits(out.text().data(), out.text().size())));
  return out.take();
}

Result<NativeHeader> parse_native_header(ByteView header) {
  if (header.size() < native_fixed_bytes + native_layer_bytes + checksum_bytes ||
      as_text(header.first(native_magic.size())) != native_magic)
    return bad("not a header");
  ByteReader in(header.first(header.size() - checksum_bytes));
  in.take(native_magic.size());
  if (in.get<std::uint8_t>() != native_version)
    return fail(Errc::newer_version, "a later version's header");
  if (load_little_endian<std::uint64_t>(header.last(checksum_bytes).data()) !=
      XXH3_64bits(header.data(), header.size() - checksum_bytes))
    return bad("the header's checksum does not hold");
  NativeHeader out;
  const auto flags = in.get<std::uint32_t>();
  out.plan.is_scaling = (flags & flag_fixed) == 0;
  out.plan.growth = in.get<std::uint32_t>();
  out.plan.fpr = in.get_double();
  out.plan.first_share = in.get_double();
  out.plan.tightening = in.get_double();
  out.items = in.get<std::uint64_t>();
  std::array<std::byte, Secret::size> secret;
  std::memcpy(secret.data(), in.take(secret.size()).data(), secret.size());
  out.secret = Secret(secret);
  const auto hash = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  if (flags > flag_fixed || hash != static_cast<std::uint32_t>(HashKind::siphash) ||
      !(out.plan.fpr > 0 && out.plan.fpr < 1) || !is_share(out.plan.first_share) ||
      !(out.plan.tightening > 0 && out.plan.tightening < 1))
    return bad("parameters that cannot be");
  if (count == 0 || count > NativeChain::max_layers ||
      in.left() != std::uint64_t{count} * native_layer_bytes)
    return bad("the header's length is not that of its layers");
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    NativeLayerShape& shape = out.layers.emplace_back();
    const auto layout = in.get<std::uint64_t>();
    shape.blocks = in.get<std::uint64_t>();
    shape.capacity = in.get<std::uint64_t>();
    shape.fpr = in.get_double();
    shape.items = in.get<std::uint64_t>();
    shape.layout = static_cast<BlockLayout>(layout > 3 ? 0 : layout);
    if (!NativeLayer::is_possible(shape) || shape.capacity > NativeChain::max_capacity ||
        shape.items > std::uint64_t{1} << 56)
      return bad("a layer that cannot be");
    sum += shape.items;
  }
  if (!in.is_exact() || sum != out.items) return bad("the layers' items do not add up");
  out.plan.capacity = out.layers.front().capacity;
  return out;
}

std::string bloom_header(const BloomValue& value) {
  return value.is_native() ? native_header(*value.native()) : classic_header(*value.classic());
}

namespace {

Result<BloomValue> empty_from_header(ByteView header, const MemoryLimit& limit) {
  const bool is_native = header.size() >= native_magic.size() &&
                         as_text(header.first(native_magic.size())) == native_magic;
  if (!is_native) return classic_from_header(header, limit);
  auto parsed = parse_native_header(header);
  if (!parsed) return fail(std::move(parsed).error());
  std::uint64_t bytes = 0;
  for (const NativeLayerShape& shape : parsed->layers) bytes += shape.size_bytes();
  if (limit.ask(0, bytes) != MemoryLimit::Answer::yes)
    return fail(Errc::too_large, "Insufficient memory to create filter");
  std::vector<NativeLayer> layers;
  for (const NativeLayerShape& shape : parsed->layers) {
    auto layer = NativeLayer::make(shape);
    if (!layer) return fail(std::move(layer).error());
    layer->set_items(shape.items);
    layers.push_back(*std::move(layer));
  }
  return BloomValue(NativeChain(parsed->plan, KeyHasher::siphash(parsed->secret), std::move(layers),
                                parsed->items));
}

}  // namespace

Result<BloomValue> bloom_from_header(ByteView header, const MemoryLimit& limit) {
  auto value = empty_from_header(header, limit);
  if (!value) return value;
  const auto [items, bytes] =
      value->visit([](const auto& chain) { return std::pair(chain.items(), chain.size_bytes()); });
  if (items != 0) value->set_load({bytes, 0});
  return value;
}

Chunk bloom_chunk(const BloomValue& value, std::uint64_t iterator) {
  return value.visit([&](const auto& chain) { return chunk_of(chain.layers(), iterator); });
}

const char* load_bloom_chunk(BloomValue& value, std::int64_t iterator, ByteView bytes) {
  if (iterator <= 1 || static_cast<std::uint64_t>(iterator) - 1 < bytes.size())
    return "ERR received bad data";
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  const ChunkPlace place =
      value.visit([&](auto& chain) { return place_of(chain.layers(), end + 1, bytes.size()); });
  if (place.fit == ChunkPlace::Fit::too_large)
    return "ERR invalid chunk - Too big for current filter";
  if (place.fit == ChunkPlace::Fit::no_array) return "ERR invalid offset - no link found";
  std::ranges::transform(place.bytes, bytes, place.bytes.begin(), std::bit_or<>());
  ChunkLoad load = value.load();
  if (bytes.empty())
    load = {value.visit([](const auto& chain) { return chain.size_bytes(); }), end};
  load.take(place.start, end);
  value.set_load(load);
  return nullptr;
}

}  // namespace guestlist::server
