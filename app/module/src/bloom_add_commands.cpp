// BF.ADD, BF.MADD, BF.INSERT: items into a filter that may have to be made first.
//
// What reaches replicas and the log is the effect: a creation as the filter's header, adds as the
// items that changed something, nothing where nothing changed.

#include "bloom_add_commands.hpp"

#include <array>
#include <vector>

#include "bloom_insert_options.hpp"
#include "bloom_keys.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

const char* error_of(Added outcome) noexcept {
  switch (outcome) {
    case Added::full:
      return "ERR non scaling filter is full";
    case Added::over_object_limit:
      return "ERR operation exceeds bloom object memory limit";
    case Added::too_many_layers:
      return "ERR bloom object reached max number of filters";
    case Added::no_memory:
    case Added::added:
    case Added::seen:
      break;
  }
  return "ERR problem inserting into filter";
}

void reply_outcome(Context* context, Added outcome) {
  if (outcome == Added::added || outcome == Added::seen) {
    api::reply_with_bool(context, outcome == Added::added ? 1 : 0);
  } else {
    api::reply_with_error(context, error_of(outcome));
  }
}

/// Adds in order and keeps the outcomes; fewer than the items where the filter is full.
std::size_t add_all(BloomValue& value, Arguments items, std::vector<Added>& outcomes,
                    const MemoryLimit& limit) {
  constexpr std::size_t batch = NativeChain::batch;
  outcomes.resize(items.size());
  std::array<std::string_view, batch> views;
  return value.visit([&](auto& chain) {
    std::size_t done = 0;
    while (done < items.size()) {
      const std::size_t count = std::min(batch, items.size() - done);
      for (std::size_t i = 0; i < count; ++i) views[i] = view(items[done + i]);
      const std::size_t added =
          chain.add_some(std::span(views).first(count), outcomes.data() + done, limit);
      done += added;
      if (outcomes[done - 1] == Added::full) break;
    }
    return done;
  });
}

void replicate_adds(Context* context, String* key, Arguments items,
                    std::span<const Added> outcomes) {
  static std::vector<String*> changed;
  changed.clear();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == Added::added) changed.push_back(items[i]);
  }
  if (!changed.empty())
    api::replicate(context, "BF.MADD", "sv", key, changed.data(), changed.size());
}

/// Adds to the filter of `key`, which `created` says is new, replies and replicates.
int add_and_reply(Context* context, BloomKey& opened, BloomValue& value, bool created, String* key,
                  Arguments items) {
  static std::vector<Added> outcomes;
  if (created) replicate_creation(context, key, value);
  const std::size_t done = add_all(value, items, outcomes, memory_limit(context));
  const auto told = std::span<const Added>(outcomes).first(done);
  api::reply_with_array(context, static_cast<long>(done));
  bool any = false;
  for (const Added outcome : told) {
    reply_outcome(context, outcome);
    any |= outcome == Added::added;
  }
  replicate_adds(context, key, items, told);
  if (created) opened.changed("bloom.reserve");
  if (any) opened.changed("bloom.add");
  // What a huge command needed is not kept.
  constexpr std::size_t kept = std::size_t{64} << 10;
  if (outcomes.capacity() > kept) outcomes = {};
  return ok;
}

}  // namespace

int bloom_add(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* value = key.bloom();
  const MemoryLimit limit = memory_limit(context);
  bool created = false;
  if (value == nullptr) {
    if (!key.is_missing()) return reply_error(context, wrong_type);
    auto made = make_bloom(default_wish(), limit);
    if (!made) return reply_error(context, creation_error(made.error()));
    value = key.create(*std::move(made));
    created = true;
    replicate_creation(context, argv[1], *value);
  }
  const Added outcome = value->visit([&](auto& chain) { return chain.add(view(argv[2]), limit); });
  reply_outcome(context, outcome);
  if (created) key.changed("bloom.reserve");
  if (outcome == Added::added) {
    if (created) {
      api::replicate(context, "BF.ADD", "ss", argv[1], argv[2]);
    } else {
      api::replicate_verbatim(context);
    }
    key.changed("bloom.add");
  }
  return ok;
}

int bloom_add_many(Context* context, String** argv, int argc) {
  if (argc < 3) return api::wrong_arity(context);
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* value = key.bloom();
  const bool created = value == nullptr;
  if (created) {
    if (!key.is_missing()) return reply_error(context, wrong_type);
    auto made = make_bloom(default_wish(), memory_limit(context));
    if (!made) return reply_error(context, creation_error(made.error()));
    value = key.create(*std::move(made));
  }
  return add_and_reply(context, key, *value, created, argv[1],
                       Arguments(argv + 2, static_cast<std::size_t>(argc - 2)));
}

int bloom_insert(Context* context, String** argv, int argc) {
  if (argc < 4) return api::wrong_arity(context);
  const Arguments arguments(argv, static_cast<std::size_t>(argc));
  const InsertOptions options = parse_insert_options(arguments);
  if (options.is_arity_wrong) return api::wrong_arity(context);
  if (options.error != nullptr) return reply_error(context, options.error);
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* value = key.bloom();
  const bool created = value == nullptr;
  if (created) {
    if (!key.is_missing()) return reply_error(context, wrong_type);
    if (!options.may_create) return reply_error(context, "ERR not found");
    BloomWish wish = options.wish;
    if (options.secret) wish.secret = &*options.secret;
    if (options.scale_to != 0) {
      if (const char* const refused = check_scale_to(wish, options.scale_to, context))
        return reply_error(context, refused);
    }
    auto made = make_bloom(wish, memory_limit(context));
    if (!made) return reply_error(context, creation_error(made.error()));
    value = key.create(*std::move(made));
  }
  return add_and_reply(context, key, *value, created, argv[1],
                       arguments.subspan(options.first_item));
}

}  // namespace guestlist::server
