#include "bloom_keys.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "chunk_log.hpp"
#include "core/bloom_dump.hpp"
#include "core/bloom_rdb.hpp"
#include "server_values.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

Type* classic_type = nullptr;
Type* own_type = nullptr;

/// What a key holds, and what of it is in the totals. Values may be freed by a background thread.
struct StoredBloom : BloomValue {
  explicit StoredBloom(BloomValue value) : BloomValue(std::move(value)) { count(); }
  StoredBloom(const StoredBloom&) = delete;
  StoredBloom& operator=(const StoredBloom&) = delete;
  ~StoredBloom() { totals.replace(counted, {}); }

  void count() {
    const FilterCounts now = visit([](const auto& chain) {
      return FilterCounts{1, chain.size_bytes(), chain.layers().size(), chain.items(),
                          chain.capacity()};
    });
    totals.replace(counted, now);
    counted = now;
  }

  FilterCounts counted;
  static inline FilterTotals totals;
};

/// RedisBloom's type has no place for how much of a filter has arrived.
Type* type_of(const BloomValue& value) noexcept {
  return value.is_native() || !value.is_whole() ? own_type : classic_type;
}

StoredBloom& bloom_of(void* value) noexcept {
  return *static_cast<StoredBloom*>(value);
}
const StoredBloom& bloom_of(const void* value) noexcept {
  return *static_cast<const StoredBloom*>(value);
}

void* loaded(Io* io, Result<BloomValue> value) {
  if (value) return new StoredBloom(*std::move(value));
  api::log_io_error(io, "warning", "a Bloom filter cannot be read: %s",
                    value.error().message().c_str());
  return nullptr;
}

void rewrite_log(Io* io, String* key, void* value) {
  const auto& filter = bloom_of(value);
  rewrite_in_chunks(io, "BF.LOADCHUNK", key, bloom_header(filter), filter.load(),
                    [&](std::uint64_t iterator) { return bloom_chunk(filter, iterator); });
}

void digest(Digest* out, void* value) {
  const std::string header = bloom_header(bloom_of(value));
  api::digest_add_string_buffer(out, header.data(), header.size());
  bloom_of(value).visit([out](const auto& chain) {
    for (const auto& layer : chain.layers()) {
      const ByteView bits = layer.bits().bytes();
      api::digest_add_string_buffer(out, reinterpret_cast<const char*>(bits.data()), bits.size());
    }
  });
  api::digest_end_sequence(out);
}

/// Work of freeing it, in allocations of a size that is quick to free: large filters are freed by
/// the server's background thread.
std::size_t free_effort(String*, const void* value) {
  constexpr std::uint64_t quick = 64 << 10;
  const std::uint64_t bytes =
      bloom_of(value).visit([](const auto& chain) { return chain.size_bytes(); });
  return 1 + static_cast<std::size_t>(bytes / quick);
}

void* copy(String*, String*, const void* value) {
  auto duplicate = copy_of(bloom_of(value));
  return duplicate ? new StoredBloom(*std::move(duplicate)) : nullptr;
}

int defragment(DefragContext* context, String*, void** value) {
  if (!settings().is_defragmented) return 0;
  bloom_of(*value).visit([context](auto& chain) {
    for (auto& layer : chain.layers()) {
      layer.bits().move_by([context](void* memory) { return api::defrag_alloc(context, memory); });
    }
  });
  return 0;
}

TypeMethods common_methods() {
  TypeMethods methods;
  methods.aof_rewrite = rewrite_log;
  methods.mem_usage = [](const void* value) {
    return static_cast<std::size_t>(bloom_of(value).told_bytes());
  };
  methods.digest = digest;
  methods.free = [](void* value) { delete static_cast<StoredBloom*>(value); };
  methods.free_effort = free_effort;
  methods.copy = copy;
  methods.defrag = defragment;
  return methods;
}

}  // namespace

const char* register_bloom_types(Context* context) {
  TypeMethods methods = common_methods();
  methods.rdb_load = [](Io* io, int encoding) {
    ServerReader in(io);
    return loaded(io, load_classic_bloom(in, encoding));
  };
  methods.rdb_save = [](Io* io, void* value) {
    ServerWriter out(io);
    save_classic_bloom(*bloom_of(value).classic(), out);
  };
  classic_type =
      api::create_data_type(context, classic_bloom_type_name, classic_bloom_encoding, &methods);

  methods.rdb_load = [](Io* io, int encoding) {
    ServerReader in(io);
    return loaded(io, load_own_bloom(in, encoding));
  };
  methods.rdb_save = [](Io* io, void* value) {
    ServerWriter out(io);
    save_own_bloom(bloom_of(value), out);
  };
  own_type = api::create_data_type(context, own_bloom_type_name, own_bloom_encoding, &methods);
  if (classic_type == nullptr || own_type == nullptr)
    return "a type of Bloom filters exists already; is another module loaded that has it?";
  return nullptr;
}

BloomValue* BloomKey::bloom() const {
  void* const value = value_of(own_type);
  return static_cast<StoredBloom*>(value != nullptr ? value : value_of(classic_type));
}

void BloomKey::changed(const char* event) {
  if (BloomValue* const value = bloom()) {
    static_cast<StoredBloom*>(value)->count();
    if (value_of(type_of(*value)) == nullptr) create(std::move(*value));
  }
  OpenKey::changed(event);
}

FilterCounts bloom_totals() noexcept {
  return StoredBloom::totals.read();
}

BloomValue* BloomKey::create(BloomValue value) {
  auto* const stored = new StoredBloom(std::move(value));
  set(type_of(*stored), stored);
  return stored;
}

BloomWish default_wish() {
  const Settings& now = settings();
  return {now.error_rate, now.initial_size, now.expansion, now.expansion != 0,
          now.is_classic, now.tightening,   false};
}

Result<BloomValue> make_bloom(const BloomWish& wish, const MemoryLimit& limit) {
  ChainPlan plan;
  plan.fpr = wish.error_rate;
  plan.capacity = static_cast<std::uint64_t>(wish.capacity);
  plan.growth = static_cast<std::uint32_t>(wish.expansion);
  plan.is_scaling = wish.is_scaling;
  plan.tightening = wish.tightening;
  constexpr double share_where_growth_is_rare = 0.8;
  plan.first_share = wish.has_capacity ? share_where_growth_is_rare : 1 - wish.tightening;
  // Rates that no blocked layer is planned for are left to the classic layout.
  if (wish.is_classic || wish.error_rate < smallest_native_rate) {
    plan.first_share = 1;
    plan.options = classic_options_new | (wish.is_scaling ? 0 : classic_option_fixed);
    auto chain = ClassicChain::make(plan, ClassicHasher(), limit);
    if (!chain) return fail(std::move(chain).error());
    return BloomValue(*std::move(chain));
  }
  std::array<std::byte, Secret::size> common;
  std::memcpy(common.data(), common_secret, common.size());
  const Secret secret = wish.secret != nullptr         ? *wish.secret
                        : settings().has_random_secret ? Secret::random()
                                                       : Secret(common);
  auto chain = NativeChain::make(plan, KeyHasher::siphash(secret), limit);
  if (!chain) return fail(std::move(chain).error());
  return BloomValue(*std::move(chain));
}

void replicate_creation(Context* context, String* key, const BloomValue& value) {
  const std::string header = bloom_header(value);
  api::replicate(context, "BF.LOADCHUNK", "scb", key, "1", header.data(), header.size());
}

}  // namespace guestlist::server
