// CF.ADD, CF.ADDNX, CF.INSERT, CF.INSERTNX: items into a filter that may have to be made first.
//
// What reaches replicas and the log is the effect: a creation as the filter's header, adds as the
// items that were stored, nothing where nothing changed.

#include <algorithm>
#include <array>
#include <vector>

#include "cuckoo_commands.hpp"
#include "cuckoo_options.hpp"

namespace guestlist::server {
namespace {

const char* error_of(Added outcome) noexcept {
  switch (outcome) {
    case Added::full:
      return "Filter is full";
    case Added::over_object_limit:
      return "ERR operation exceeds cuckoo object memory limit";
    case Added::too_many_layers:
      return "Maximum expansions reached";
    case Added::no_memory:
    case Added::added:
    case Added::seen:
      break;
  }
  return "ERR Insufficient memory";
}

/// The filter of the key, made if it is missing; null where the reply was an error.
CuckooChain* find_or_make(Context* context, CuckooKey& key, const CuckooWish& wish, bool& created) {
  if (CuckooChain* const value = key.cuckoo()) {
    if (value->is_whole()) return value;
    reply_error(context, still_arriving);
    return nullptr;
  }
  if (!key.is_missing()) {
    reply_error(context, wrong_type);
    return nullptr;
  }
  auto made = make_cuckoo(wish, cuckoo_limit(context).memory);
  if (!made) {
    reply_error(context, cuckoo_creation_error(made.error()));
    return nullptr;
  }
  created = true;
  return key.create(*std::move(made));
}

int add(Context* context, String** argv, int argc, bool only_new) {
  if (argc != 3) return api::wrong_arity(context);
  CuckooKey key(context, argv[1], open_read | open_write);
  bool created = false;
  CuckooChain* const value = find_or_make(context, key, default_cuckoo_wish(), created);
  if (value == nullptr) return ok;
  if (created) {
    replicate_creation(context, argv[1], *value);
    key.changed("cuckoo.reserve");
  }
  const Past before = value->past();
  const Added outcome = value->add(view(argv[2]), only_new, cuckoo_limit(context));
  if (outcome == Added::seen) {
    // The first time that nothing is stored leaves a mark, which replicas get too.
    if (value->past() != before) api::replicate_verbatim(context);
    return api::reply_with_bool(context, 0);
  }
  if (outcome != Added::added) return reply_error(context, error_of(outcome));
  if (created) {
    api::replicate(context, "CF.ADD", "ss", argv[1], argv[2]);
  } else {
    api::replicate_verbatim(context);
  }
  key.changed("cuckoo.add");
  return api::reply_with_bool(context, 1);
}

void add_all(CuckooChain& value, Arguments items, bool only_new, std::vector<Added>& outcomes,
             const CuckooLimit& limit) {
  constexpr std::size_t batch = CuckooChain::batch;
  outcomes.resize(items.size());
  std::array<std::string_view, batch> views;
  for (std::size_t start = 0; start < items.size(); start += batch) {
    const std::size_t count = std::min(batch, items.size() - start);
    for (std::size_t i = 0; i < count; ++i) views[i] = view(items[start + i]);
    value.add_many(std::span(views).first(count), only_new, outcomes.data() + start, limit);
  }
}

void reply_outcome(Context* context, Added outcome, bool has_booleans) {
  const int number = outcome == Added::added ? 1 : outcome == Added::seen ? 0 : -1;
  if (has_booleans) {
    api::reply_with_bool(context, number == 1 ? 1 : 0);
  } else {
    api::reply_with_long_long(context, number);
  }
}

/// Whether anything was stored.
bool replicate_stored(Context* context, String* key, Arguments items,
                      std::span<const Added> outcomes) {
  static std::vector<String*> stored;
  stored.clear();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == Added::added) stored.push_back(items[i]);
  }
  if (stored.empty()) return false;
  api::replicate(context, "CF.INSERT", "sccv", key, "NOCREATE", "ITEMS", stored.data(),
                 stored.size());
  return true;
}

int insert(Context* context, String** argv, int argc, bool only_new) {
  if (argc < 4) return api::wrong_arity(context);
  const Arguments arguments(argv, static_cast<std::size_t>(argc));
  const CuckooInsertOptions options = parse_cuckoo_insert(arguments);
  if (options.error != nullptr) return reply_error(context, options.error);
  if (options.is_arity_wrong) return api::wrong_arity(context);
  CuckooKey key(context, argv[1], open_read | open_write);
  if (key.is_missing() && !options.may_create) return reply_error(context, "ERR not found");
  bool created = false;
  CuckooChain* const value = find_or_make(context, key, options.wish, created);
  if (value == nullptr) return ok;
  const CuckooLimit limit = cuckoo_limit(context);
  if (value->plan().is_strict && value->layers().size() >= limit.layers)
    return reply_error(context, error_of(Added::too_many_layers));
  if (created) replicate_creation(context, argv[1], *value);

  static std::vector<Added> outcomes;
  const Arguments items = arguments.subspan(options.first_item);
  const Past before = value->past();
  add_all(*value, items, only_new, outcomes, limit);
  const bool has_booleans = !only_new && (api::get_context_flags(context) & flag_resp3) != 0;
  api::reply_with_array(context, static_cast<long>(items.size()));
  for (const Added outcome : outcomes) reply_outcome(context, outcome, has_booleans);
  if (created) key.changed("cuckoo.reserve");
  if (replicate_stored(context, argv[1], items, outcomes)) key.changed("cuckoo.add");
  if (value->past() != before) {
    const auto seen = std::find(outcomes.begin(), outcomes.end(), Added::seen) - outcomes.begin();
    api::replicate(context, "CF.INSERTNX", "sccs", argv[1], "NOCREATE", "ITEMS",
                   items[static_cast<std::size_t>(seen)]);
  }
  // What a huge command needed is not kept.
  constexpr std::size_t kept = std::size_t{64} << 10;
  if (outcomes.capacity() > kept) outcomes = {};
  return ok;
}

}  // namespace

int cuckoo_add(Context* context, String** argv, int argc) {
  return add(context, argv, argc, false);
}
int cuckoo_add_new(Context* context, String** argv, int argc) {
  return add(context, argv, argc, true);
}
int cuckoo_insert(Context* context, String** argv, int argc) {
  return insert(context, argv, argc, false);
}
int cuckoo_insert_new(Context* context, String** argv, int argc) {
  return insert(context, argv, argc, true);
}

}  // namespace guestlist::server
