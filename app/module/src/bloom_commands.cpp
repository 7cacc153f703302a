// The BF.* commands that reserve, ask and tell, and the table of them all.

#include <array>
#include <cinttypes>
#include <cstdio>

#include "bloom_add_commands.hpp"
#include "bloom_dump_commands.hpp"
#include "bloom_insert_options.hpp"
#include "bloom_keys.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

/// Null, or the sentence of the refusal.
const char* parse_reserve(Arguments arguments, BloomWish& wish) {
  if (api::string_to_double(arguments[2], &wish.error_rate) != ok) return "ERR bad error rate";
  if (!(wish.error_rate > 0 && wish.error_rate < 1))
    return "ERR error rate must be in the range (0.000000, 1.000000)";
  wish.error_rate = std::min(wish.error_rate, Settings::max_error_rate);
  if (api::string_to_long_long(arguments[3], &wish.capacity) != ok) return "ERR bad capacity";
  if (wish.capacity < 1 || wish.capacity > settings().max_capacity) {
    static char text[96];
    std::snprintf(text, sizeof text, "ERR capacity must be in the range [1, %lld]",
                  settings().max_capacity);
    return text;
  }
  bool is_fixed = false;
  bool has_expansion = false;
  for (std::size_t at = 4; at < arguments.size(); ++at) {
    if (is_word(view(arguments[at]), "NONSCALING")) is_fixed = true;
    if (!is_word(view(arguments[at]), "EXPANSION") || has_expansion) continue;
    has_expansion = true;
    if (at + 1 == arguments.size()) return "ERR no expansion";
    if (api::string_to_long_long(arguments[at + 1], &wish.expansion) != ok)
      return "ERR bad expansion";
  }
  if (has_expansion && wish.expansion != 0 && is_fixed) return "Nonscaling filters cannot expand";
  if (wish.expansion < 0 || wish.expansion > Settings::max_expansion)
    return "ERR expansion must be in the range [0, 32768]";
  wish.is_scaling = !is_fixed && wish.expansion != 0;
  wish.has_capacity = true;
  return nullptr;
}

int reserve(Context* context, String** argv, int argc) {
  if (argc < 4 || argc > 7) return api::wrong_arity(context);
  BloomWish wish = default_wish();
  if (const char* const refused =
          parse_reserve(Arguments(argv, static_cast<std::size_t>(argc)), wish))
    return reply_error(context, refused);
  BloomKey key(context, argv[1], open_read | open_write);
  if (key.bloom() != nullptr) return reply_error(context, "ERR item exists");
  if (!key.is_missing()) return reply_error(context, wrong_type);
  auto made = make_bloom(wish, memory_limit(context));
  if (!made) return reply_error(context, creation_error(made.error()));
  replicate_creation(context, argv[1], *key.create(*std::move(made)));
  key.changed("bloom.reserve");
  return reply_ok(context);
}

/// Whether every item may be in it, for it is not there or not whole, and the operator wants such
/// items to pass.
bool is_open(const BloomValue* value) {
  return settings().missing_may_exist && (value == nullptr || !value->is_whole());
}

int exists(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  const bool found =
      is_open(value) ? true : value != nullptr && value->visit([&](const auto& chain) {
        return chain.may_contain(view(argv[2]));
      });
  return api::reply_with_bool(context, found ? 1 : 0);
}

int exist_many(Context* context, String** argv, int argc) {
  if (argc < 3) return api::wrong_arity(context);
  const Arguments items(argv + 2, static_cast<std::size_t>(argc - 2));
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  api::reply_with_array(context, argc - 2);
  constexpr std::size_t batch = NativeChain::batch;
  std::array<std::string_view, batch> views;
  std::array<bool, batch> found;
  const bool all = is_open(value);
  found.fill(all);
  for (std::size_t start = 0; start < items.size(); start += batch) {
    const std::size_t count = std::min(batch, items.size() - start);
    if (value != nullptr && !all) {
      for (std::size_t i = 0; i < count; ++i) views[i] = view(items[start + i]);
      value->visit([&](const auto& chain) {
        chain.may_contain_many(std::span<const std::string_view>(views).first(count), found.data());
      });
    }
    for (std::size_t i = 0; i < count; ++i) api::reply_with_bool(context, found[i] ? 1 : 0);
  }
  return ok;
}

int cardinality(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  if (value == nullptr && !key.is_missing()) return reply_error(context, wrong_type);
  const std::uint64_t items =
      value == nullptr ? 0 : value->visit([](const auto& chain) { return chain.items(); });
  return api::reply_with_long_long(context, static_cast<long long>(items));
}

int debug(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  value->visit([context](const auto& chain) {
    char text[256];
    api::reply_with_array(context, static_cast<long>(chain.layers().size() + 1));
    int size = std::snprintf(text, sizeof text, "size:%" PRIu64, chain.items());
    api::reply_with_string_buffer(context, text, static_cast<std::size_t>(size));
    for (const auto& layer : chain.layers()) {
      size = std::snprintf(text, sizeof text,
                           "bytes:%" PRIu64 " bits:%" PRIu64
                           " hashes:%u hashwidth:64 capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
                           layer.bits().size_bytes(), layer.bit_count(), layer.probe_count(),
                           layer.capacity(), layer.items(), layer.shape().fpr);
      api::reply_with_string_buffer(context, text, static_cast<std::size_t>(size));
    }
  });
  return ok;
}

struct InfoField {
  const char* word;
  const char* name;
};
constexpr std::array<InfoField, 5> info_fields = {{{"CAPACITY", "Capacity"},
                                                   {"SIZE", "Size"},
                                                   {"FILTERS", "Number of filters"},
                                                   {"ITEMS", "Number of items inserted"},
                                                   {"EXPANSION", "Expansion rate"}}};

void reply_info_value(Context* context, const BloomValue& value, std::size_t field) {
  if (field == 4 && !value.plan().is_scaling) {
    api::reply_with_null(context);
    return;
  }
  const std::uint64_t number = value.visit([&](const auto& chain) -> std::uint64_t {
    switch (field) {
      case 0:
        return chain.capacity();
      case 1:
        return value.told_bytes();
      case 2:
        return chain.layers().size();
      case 3:
        return chain.items();
      default:
        return chain.plan().growth;
    }
  });
  api::reply_with_long_long(context, static_cast<long long>(number));
}

int info(Context* context, String** argv, int argc) {
  if (argc < 2 || argc > 3) return api::wrong_arity(context);
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  if (argc == 2) {
    api::reply_with_map(context, info_fields.size());
    for (std::size_t field = 0; field < info_fields.size(); ++field) {
      api::reply_with_simple_string(context, info_fields[field].name);
      reply_info_value(context, *value, field);
    }
    return ok;
  }
  for (std::size_t field = 0; field < info_fields.size(); ++field) {
    if (!is_word(view(argv[2]), info_fields[field].word)) continue;
    if ((api::get_context_flags(context) & flag_resp3) != 0) {
      api::reply_with_map(context, 1);
      api::reply_with_simple_string(context, info_fields[field].name);
    } else {
      api::reply_with_array(context, 1);
    }
    reply_info_value(context, *value, field);
    return ok;
  }
  return reply_error(context, "Invalid information value");
}

Argument key_argument{.name = "key", .type = argument_key, .key_spec_index = 0};
Argument item_argument{.name = "item"};
Argument items_argument{.name = "item", .flags = argument_multiple};

Argument key_only[] = {key_argument, {}};
Argument key_item[] = {key_argument, item_argument, {}};
Argument key_items[] = {key_argument, items_argument, {}};

Argument reserve_arguments[] = {key_argument,
                                {.name = "error_rate", .type = argument_double},
                                {.name = "capacity", .type = argument_integer},
                                {.name = "expansion",
                                 .type = argument_integer,
                                 .token = "EXPANSION",
                                 .flags = argument_optional},
                                {.name = "nonscaling",
                                 .type = argument_pure_token,
                                 .token = "NONSCALING",
                                 .flags = argument_optional},
                                {}};

Argument insert_arguments[] = {
    key_argument,
    {.name = "capacity", .type = argument_integer, .token = "CAPACITY", .flags = argument_optional},
    {.name = "error", .type = argument_double, .token = "ERROR", .flags = argument_optional},
    {.name = "expansion",
     .type = argument_integer,
     .token = "EXPANSION",
     .flags = argument_optional},
    {.name = "nocreate",
     .type = argument_pure_token,
     .token = "NOCREATE",
     .flags = argument_optional},
    {.name = "nonscaling",
     .type = argument_pure_token,
     .token = "NONSCALING",
     .flags = argument_optional},
    {.name = "tightening",
     .type = argument_double,
     .token = "TIGHTENING",
     .flags = argument_optional},
    {.name = "seed", .type = argument_string, .token = "SEED", .flags = argument_optional},
    {.name = "scale-to",
     .type = argument_integer,
     .token = "VALIDATESCALETO",
     .flags = argument_optional},
    {.name = "item", .type = argument_string, .token = "ITEMS", .flags = argument_multiple},
    {}};

Argument info_words[] = {{.name = "capacity", .type = argument_pure_token, .token = "CAPACITY"},
                         {.name = "size", .type = argument_pure_token, .token = "SIZE"},
                         {.name = "filters", .type = argument_pure_token, .token = "FILTERS"},
                         {.name = "items", .type = argument_pure_token, .token = "ITEMS"},
                         {.name = "expansion", .type = argument_pure_token, .token = "EXPANSION"},
                         {}};
Argument info_arguments[] = {
    key_argument,
    {.name = "field", .type = argument_one_of, .flags = argument_optional, .arguments = info_words},
    {}};

Argument scan_arguments[] = {key_argument, {.name = "iterator", .type = argument_integer}, {}};
Argument load_arguments[] = {
    key_argument, {.name = "iterator", .type = argument_integer}, {.name = "data"}, {}};

constexpr std::uint64_t written = key_read_write | key_insert;
constexpr std::uint64_t read = key_read_only | key_access;

}  // namespace

std::span<const CommandSpec> bloom_commands() {
  static const CommandSpec all[] = {
      {"BF.RESERVE", reserve, "write deny-oom", "write fast bloom", -4, written,
       "Creates an empty Bloom filter.", "O(1)", "1.0.0", reserve_arguments},
      {"BF.ADD", bloom_add, "write deny-oom", "write bloom", 3, written,
       "Adds an item to a Bloom filter, which is created if it is missing.",
       "O(L) with L the number of layers", "1.0.0", key_item},
      {"BF.MADD", bloom_add_many, "write deny-oom", "write bloom", -3, written,
       "Adds items to a Bloom filter, which is created if it is missing.",
       "O(N * L) with N the number of items and L that of layers", "1.0.0", key_items},
      {"BF.INSERT", bloom_insert, "write deny-oom", "write bloom", -4, written,
       "Adds items to a Bloom filter, which is created with the given parameters if it is missing.",
       "O(N * L) with N the number of items and L that of layers", "1.0.0", insert_arguments},
      {"BF.EXISTS", exists, "readonly fast", "read bloom", 3, read,
       "Tells whether an item may have been added to a Bloom filter.",
       "O(L) with L the number of layers", "1.0.0", key_item},
      {"BF.MEXISTS", exist_many, "readonly fast", "read bloom", -3, read,
       "Tells of each item whether it may have been added to a Bloom filter.",
       "O(N * L) with N the number of items and L that of layers", "1.0.0", key_items},
      {"BF.INFO", info, "readonly fast", "read fast bloom", -2, read,
       "Tells the size and the parameters of a Bloom filter.", "O(L) with L the number of layers",
       "1.0.0", info_arguments, "nondeterministic_output"},
      {"BF.CARD", cardinality, "readonly fast", "read fast bloom", 2, read,
       "Tells how many items were new to a Bloom filter when they were added.", "O(1)", "2.4.4",
       key_only},
      {"BF.DEBUG", debug, "readonly fast", "read bloom", 2, read,
       "Describes the layers of a Bloom filter.", "O(L) with L the number of layers", "1.0.0",
       key_only, "dont_cache"},
      {"BF.SCANDUMP", bloom_scan_dump, "readonly fast", "read bloom", 3, read,
       "Gives a Bloom filter piece by piece.", "O(N) with N the bytes of the piece", "1.0.0",
       scan_arguments, "dont_cache"},
      {"BF.LOADCHUNK", bloom_load_chunk, "write deny-oom", "write bloom", 4, written,
       "Takes a piece that BF.SCANDUMP gave.", "O(N) with N the bytes of the piece", "1.0.0",
       load_arguments},
  };
  return all;
}

}  // namespace guestlist::server
