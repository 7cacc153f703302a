// The CF.* commands that reserve, ask, delete and tell, and the table of them all.

#include "cuckoo_commands.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "cuckoo_options.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

int reserve(Context* context, String** argv, int argc) {
  if (argc < 3 || argc % 2 == 0) return api::wrong_arity(context);
  CuckooWish wish = default_cuckoo_wish();
  if (const char* const refused =
          parse_cuckoo_reserve(Arguments(argv, static_cast<std::size_t>(argc)), wish))
    return reply_error(context, refused);
  CuckooKey key(context, argv[1], open_read | open_write);
  if (key.cuckoo() != nullptr) return reply_error(context, "ERR item exists");
  if (!key.is_missing()) return reply_error(context, wrong_type);
  auto made = make_cuckoo(wish, memory_limit(context));
  if (!made) return reply_error(context, cuckoo_creation_error(made.error()));
  replicate_creation(context, argv[1], *key.create(*std::move(made)));
  key.changed("cuckoo.reserve");
  return reply_ok(context);
}

/// Whether every item may be in it, for it is not there or not whole, and the operator wants such
/// items to pass.
bool is_open(const CuckooChain* value) {
  return settings().missing_may_exist && (value == nullptr || !value->is_whole());
}

int exists(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  const bool found = is_open(value) || (value != nullptr && value->may_contain(view(argv[2])));
  return api::reply_with_bool(context, found ? 1 : 0);
}

int exist_many(Context* context, String** argv, int argc) {
  if (argc < 3) return api::wrong_arity(context);
  const Arguments items(argv + 2, static_cast<std::size_t>(argc - 2));
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  api::reply_with_array(context, argc - 2);
  constexpr std::size_t batch = CuckooChain::batch;
  std::array<std::string_view, batch> views;
  std::array<bool, batch> found;
  const bool all = is_open(value);
  found.fill(all);
  for (std::size_t start = 0; start < items.size(); start += batch) {
    const std::size_t count = std::min(batch, items.size() - start);
    if (value != nullptr && !all) {
      for (std::size_t i = 0; i < count; ++i) views[i] = view(items[start + i]);
      value->may_contain_many(std::span<const std::string_view>(views).first(count), found.data());
    }
    for (std::size_t i = 0; i < count; ++i) api::reply_with_bool(context, found[i] ? 1 : 0);
  }
  return ok;
}

int count(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  const std::uint64_t copies = value == nullptr ? 0 : value->count(view(argv[2]));
  return api::reply_with_long_long(context, static_cast<long long>(copies));
}

int remove(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  CuckooKey key(context, argv[1], open_read | open_write);
  CuckooChain* const value = key.cuckoo();
  if (value == nullptr) return reply_error(context, "Not found");
  if (!value->is_whole()) return reply_error(context, still_arriving);
  const Past before = value->past();
  const bool is_removed = value->remove(view(argv[2]));
  if (is_removed) {
    api::replicate_verbatim(context);
    key.changed("cuckoo.del");
  } else if (value->past() != before) {
    // No slot changed, and yet a replica may not say `absent` where this server does not.
    api::replicate_verbatim(context);
  }
  return api::reply_with_bool(context, is_removed ? 1 : 0);
}

int compact(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  CuckooKey key(context, argv[1], open_read | open_write);
  CuckooChain* const value = key.cuckoo();
  if (value == nullptr) return reply_error(context, "Cuckoo filter was not found");
  if (!value->is_whole()) return reply_error(context, still_arriving);
  value->compact();
  api::replicate_verbatim(context);
  key.changed("cuckoo.compact");
  return reply_ok(context);
}

int info(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  const CuckooPlan& plan = value->plan();
  const std::pair<const char*, std::uint64_t> fields[] = {
      {"Size", value->told_bytes()},
      {"Number of buckets", plan.buckets},
      {"Number of filters", value->layers().size()},
      {"Number of items inserted", value->items()},
      {"Number of items deleted", value->deletes()},
      {"Bucket size", plan.bucket_size},
      {"Expansion rate", plan.expansion},
      {"Max iterations", plan.max_iterations},
  };
  api::reply_with_map(context, std::size(fields));
  for (const auto& [name, number] : fields) {
    api::reply_with_simple_string(context, name);
    api::reply_with_long_long(context, static_cast<long long>(number));
  }
  return ok;
}

int debug(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  const CuckooPlan& plan = value->plan();
  char text[256];
  const int size = std::snprintf(text, sizeof text,
                                 "bktsize:%u buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64
                                 " filters:%zu max_iterations:%u expansion:%u",
                                 plan.bucket_size, plan.buckets, value->items(), value->deletes(),
                                 value->layers().size(), plan.max_iterations, plan.expansion);
  return api::reply_with_string_buffer(context, text, static_cast<std::size_t>(size));
}

int hazard(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  const Misuse& misuse = value->misuse();
  const double fpr = value->fpr_now();
  api::reply_with_map(context, 5);
  api::reply_with_simple_string(context, "False positive rate now");
  api::reply_with_double(context, fpr);
  api::reply_with_simple_string(context, "Deletes of items that were not there");
  api::reply_with_long_long(context, static_cast<long long>(misuse.deletes_not_found));
  // Of the deletes of absent items, these are the share that was not found.
  api::reply_with_simple_string(context, "Other items that such deletes denied, expected");
  api::reply_with_double(context, static_cast<double>(misuse.deletes_not_found) * fpr / (1 - fpr));
  api::reply_with_simple_string(context, "Adds that stored nothing");
  api::reply_with_long_long(context, static_cast<long long>(misuse.adds_taken_for_seen));
  api::reply_with_simple_string(context, "GL.CHECK says absent");
  return api::reply_with_bool(context, value->proves_absence(settings().trusts_deletes) ? 1 : 0);
}

Argument key_argument{.name = "key", .type = argument_key, .key_spec_index = 0};
Argument key_only[] = {key_argument, {}};
Argument key_item[] = {key_argument, {.name = "item"}, {}};
Argument key_items[] = {key_argument, {.name = "item", .flags = argument_multiple}, {}};

Argument reserve_arguments[] = {key_argument,
                                {.name = "capacity", .type = argument_integer},
                                {.name = "bucketsize",
                                 .type = argument_integer,
                                 .token = "BUCKETSIZE",
                                 .flags = argument_optional},
                                {.name = "maxiterations",
                                 .type = argument_integer,
                                 .token = "MAXITERATIONS",
                                 .flags = argument_optional},
                                {.name = "expansion",
                                 .type = argument_integer,
                                 .token = "EXPANSION",
                                 .flags = argument_optional},
                                {}};
Argument insert_arguments[] = {
    key_argument,
    {.name = "capacity", .type = argument_integer, .token = "CAPACITY", .flags = argument_optional},
    {.name = "nocreate",
     .type = argument_pure_token,
     .token = "NOCREATE",
     .flags = argument_optional},
    {.name = "item", .type = argument_string, .token = "ITEMS", .flags = argument_multiple},
    {}};
Argument scan_arguments[] = {key_argument, {.name = "iterator", .type = argument_integer}, {}};
Argument load_arguments[] = {
    key_argument, {.name = "iterator", .type = argument_integer}, {.name = "data"}, {}};

constexpr std::uint64_t written = key_read_write | key_insert;
constexpr std::uint64_t read = key_read_only | key_access;

constexpr const char* one_item = "O(T) with T the number of tables";
constexpr const char* many_items = "O(N * T) with N the number of items and T that of tables";

}  // namespace

std::span<const CommandSpec> cuckoo_commands() {
  static const CommandSpec all[] = {
      {"CF.RESERVE", reserve, "write deny-oom", "write fast cuckoo", -3, written,
       "Creates an empty cuckoo filter.", "O(1)", "1.0.0", reserve_arguments},
      {"CF.ADD", cuckoo_add, "write deny-oom", "write cuckoo", 3, written,
       "Adds a copy of an item to a cuckoo filter, which is created if it is missing.", one_item,
       "1.0.0", key_item},
      {"CF.ADDNX", cuckoo_add_new, "write deny-oom", "write cuckoo", 3, written,
       "Adds an item to a cuckoo filter unless it seems to be there.", one_item, "1.0.0", key_item},
      {"CF.INSERT", cuckoo_insert, "write deny-oom", "write cuckoo", -4, written,
       "Adds a copy of each item to a cuckoo filter, which is created with the given capacity if "
       "it is missing.",
       many_items, "1.0.0", insert_arguments},
      {"CF.INSERTNX", cuckoo_insert_new, "write deny-oom", "write cuckoo", -4, written,
       "Adds those items to a cuckoo filter that do not seem to be there.", many_items, "1.0.0",
       insert_arguments},
      {"CF.EXISTS", exists, "readonly fast", "read cuckoo", 3, read,
       "Tells whether an item may have been added to a cuckoo filter.", one_item, "1.0.0",
       key_item},
      {"CF.MEXISTS", exist_many, "readonly fast", "read cuckoo", -3, read,
       "Tells of each item whether it may have been added to a cuckoo filter.", many_items, "1.0.0",
       key_items},
      {"CF.COUNT", count, "readonly fast", "read cuckoo", 3, read,
       "Tells how many copies of an item there may be in a cuckoo filter.", one_item, "1.0.0",
       key_item},
      {"CF.DEL", remove, "write fast", "write cuckoo", 3, key_read_write | key_delete,
       "Deletes a copy of an item that was added to a cuckoo filter.", one_item, "1.0.0", key_item},
      {"CF.COMPACT", compact, "write", "write cuckoo", 2, key_read_write | key_update,
       "Moves what is in newer tables of a cuckoo filter into older ones.",
       "O(N) with N the slots of all tables", "2.0.0", key_only},
      {"CF.INFO", info, "readonly fast", "read fast cuckoo", 2, read,
       "Tells the size and the parameters of a cuckoo filter.", one_item, "1.0.0", key_only,
       "nondeterministic_output"},
      {"CF.DEBUG", debug, "readonly fast", "read cuckoo", 2, read, "Describes a cuckoo filter.",
       "O(1)", "1.0.0", key_only, "dont_cache"},
      {"CF.HAZARD", hazard, "readonly fast", "read cuckoo", 2, read,
       "Tells how often items were deleted that were not in a cuckoo filter, and what that may "
       "have cost.",
       one_item, "1.0.0", key_only, "nondeterministic_output"},
      {"CF.SCANDUMP", cuckoo_scan_dump, "readonly fast", "read cuckoo", 3, read,
       "Gives a cuckoo filter piece by piece.", "O(N) with N the bytes of the piece", "1.0.0",
       scan_arguments, "dont_cache"},
      {"CF.LOADCHUNK", cuckoo_load_chunk, "write deny-oom", "write cuckoo", 4, written,
       "Takes a piece that CF.SCANDUMP gave.", "O(N) with N the bytes of the piece", "1.0.0",
       load_arguments},
  };
  return all;
}

}  // namespace guestlist::server
