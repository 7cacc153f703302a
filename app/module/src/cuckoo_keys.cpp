#include "cuckoo_keys.hpp"

#include <bit>

#include "chunk_log.hpp"
#include "core/cuckoo_dump.hpp"
#include "core/cuckoo_rdb.hpp"
#include "server_values.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

Type* strict_type = nullptr;
Type* own_type = nullptr;

/// What a key holds, and what of it is in the totals. Values may be freed by a background thread.
struct StoredCuckoo : CuckooChain {
  explicit StoredCuckoo(CuckooChain value) : CuckooChain(std::move(value)) { count(); }
  StoredCuckoo(const StoredCuckoo&) = delete;
  StoredCuckoo& operator=(const StoredCuckoo&) = delete;
  ~StoredCuckoo() { totals.replace(counted, {}); }

  void count() {
    const FilterCounts now{1, size_bytes(), layers().size(), items(), size_bytes()};
    totals.replace(counted, now);
    counted = now;
  }

  FilterCounts counted;
  static inline FilterTotals totals;
};

/// RedisBloom's type has no place for how much of a filter has arrived, nor for an older hash.
Type* type_of(const CuckooChain& value) noexcept {
  const CuckooPlan& plan = value.plan();
  return plan.is_strict && !plan.has_old_hash && value.is_whole() ? strict_type : own_type;
}

StoredCuckoo& cuckoo_of(void* value) noexcept {
  return *static_cast<StoredCuckoo*>(value);
}
const StoredCuckoo& cuckoo_of(const void* value) noexcept {
  return *static_cast<const StoredCuckoo*>(value);
}

void* loaded(Io* io, Result<CuckooChain> value) {
  if (value) return new StoredCuckoo(*std::move(value));
  api::log_io_error(io, "warning", "a cuckoo filter cannot be read: %s",
                    value.error().message().c_str());
  return nullptr;
}

void rewrite_log(Io* io, String* key, void* value) {
  const auto& filter = cuckoo_of(value);
  rewrite_in_chunks(io, "CF.LOADCHUNK", key, cuckoo_header(filter), filter.load(),
                    [&](std::uint64_t iterator) { return cuckoo_chunk(filter, iterator); });
}

void digest(Digest* out, void* value) {
  const std::string header = cuckoo_header(cuckoo_of(value));
  api::digest_add_string_buffer(out, header.data(), header.size());
  for (const CuckooLayer& layer : cuckoo_of(value).layers()) {
    const ByteView slots = layer.bits().bytes();
    api::digest_add_string_buffer(out, reinterpret_cast<const char*>(slots.data()), slots.size());
  }
  api::digest_end_sequence(out);
}

/// Work of freeing it, in allocations of a size that is quick to free: large filters are freed by
/// the server's background thread.
std::size_t free_effort(String*, const void* value) {
  constexpr std::uint64_t quick = 64 << 10;
  const CuckooChain& chain = cuckoo_of(value);
  return chain.layers().size() + static_cast<std::size_t>(chain.size_bytes() / quick);
}

void* copy(String*, String*, const void* value) {
  auto duplicate = cuckoo_of(value).copy();
  return duplicate ? new StoredCuckoo(*std::move(duplicate)) : nullptr;
}

int defragment(DefragContext* context, String*, void** value) {
  if (!settings().is_defragmented) return 0;
  for (CuckooLayer& layer : cuckoo_of(*value).layers())
    layer.bits().move_by([context](void* memory) { return api::defrag_alloc(context, memory); });
  return 0;
}

TypeMethods common_methods() {
  TypeMethods methods;
  methods.aof_rewrite = rewrite_log;
  methods.mem_usage = [](const void* value) {
    return static_cast<std::size_t>(cuckoo_of(value).told_bytes());
  };
  methods.digest = digest;
  methods.free = [](void* value) { delete static_cast<StoredCuckoo*>(value); };
  methods.free_effort = free_effort;
  methods.copy = copy;
  methods.defrag = defragment;
  return methods;
}

}  // namespace

const char* register_cuckoo_types(Context* context) {
  TypeMethods methods = common_methods();
  methods.rdb_load = [](Io* io, int encoding) {
    ServerReader in(io);
    return loaded(io, load_strict_cuckoo(in, encoding));
  };
  methods.rdb_save = [](Io* io, void* value) {
    ServerWriter out(io);
    save_strict_cuckoo(cuckoo_of(value), out);
  };
  strict_type =
      api::create_data_type(context, strict_cuckoo_type_name, strict_cuckoo_encoding, &methods);

  methods.rdb_load = [](Io* io, int encoding) {
    ServerReader in(io);
    return loaded(io, load_own_cuckoo(in, encoding));
  };
  methods.rdb_save = [](Io* io, void* value) {
    ServerWriter out(io);
    save_own_cuckoo(cuckoo_of(value), out);
  };
  own_type = api::create_data_type(context, own_cuckoo_type_name, own_cuckoo_encoding, &methods);
  if (strict_type == nullptr || own_type == nullptr)
    return "a type of cuckoo filters exists already; is another module loaded that has it?";
  return nullptr;
}

CuckooChain* CuckooKey::cuckoo() const {
  void* const value = value_of(own_type);
  return static_cast<StoredCuckoo*>(value != nullptr ? value : value_of(strict_type));
}

CuckooChain* CuckooKey::create(CuckooChain value) {
  auto* const stored = new StoredCuckoo(std::move(value));
  set(type_of(*stored), stored);
  return stored;
}

void CuckooKey::changed(const char* event) {
  if (CuckooChain* const value = cuckoo()) {
    static_cast<StoredCuckoo*>(value)->count();
    if (value_of(type_of(*value)) == nullptr) create(std::move(*value));
  }
  OpenKey::changed(event);
}

FilterCounts cuckoo_totals() noexcept {
  return StoredCuckoo::totals.read();
}

CuckooWish default_cuckoo_wish() {
  const Settings& now = settings();
  return {now.cuckoo_size, now.bucket_size, now.max_iterations, now.cuckoo_expansion};
}

Result<CuckooChain> make_cuckoo(const CuckooWish& wish, const MemoryLimit& limit) {
  CuckooPlan plan;
  plan.is_strict = settings().is_strict;
  plan.bucket_size = static_cast<std::uint16_t>(wish.bucket_size);
  plan.max_iterations = static_cast<std::uint16_t>(wish.max_iterations);
  const auto expansion = static_cast<std::uint16_t>(wish.expansion);
  plan.expansion = expansion == 0 ? expansion : std::bit_ceil(expansion);
  plan.buckets = CuckooChain::buckets_for(static_cast<std::uint64_t>(wish.capacity),
                                          plan.bucket_size, plan.is_strict);
  return CuckooChain::make(plan, limit);
}

const char* cuckoo_creation_error(const Error& error) noexcept {
  if (error.code == Errc::overloaded) return "ERR operation exceeds cuckoo object memory limit";
  return "ERR Insufficient memory to create filter";
}

CuckooLimit cuckoo_limit(Context* context) {
  CuckooLimit limit;
  limit.memory = memory_limit(context);
  const bool obeys = (api::get_context_flags(context) & (flag_replicated | flag_loading)) != 0;
  limit.layers =
      obeys ? CuckooChain::max_layers + 1 : static_cast<std::size_t>(settings().max_expansions);
  return limit;
}

void replicate_creation(Context* context, String* key, const CuckooChain& value) {
  const std::string header = cuckoo_header(value);
  api::replicate(context, "CF.LOADCHUNK", "scb", key, "1", header.data(), header.size());
}

}  // namespace guestlist::server
