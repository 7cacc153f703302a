// BF.MERGE and BF.CLEAR: whole filters, joined and emptied.

#include <algorithm>
#include <vector>

#include "bloom_keys.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

template <class Layer>
const LayerChain<Layer>* chain_of(const BloomValue& value) {
  if constexpr (std::is_same_v<Layer, NativeLayer>)
    return value.native();
  else
    return value.classic();
}

/// Null, or why `sources` cannot join a filter that is as `base` is. Nothing is changed before this
/// was asked.
template <class Layer>
const char* check_merge(const LayerChain<Layer>& base, std::span<const BloomValue* const> sources) {
  std::size_t layers = base.layers().size();
  std::uint64_t items = base.layers().front().items();
  for (const BloomValue* const source : sources) {
    const auto* const chain = chain_of<Layer>(*source);
    if (chain == nullptr || !(chain->hasher() == base.hasher()))
      return "ERR filters of different layouts or secrets cannot be merged";
    if (chain == &base) continue;
    layers += chain->layers().size();
    items += chain->layers().front().items();
    auto shape = chain->layers().front().shape();
    shape.items = base.layers().front().shape().items;
    if (!base.plan().is_scaling &&
        (chain->layers().size() > 1 || !(shape == base.layers().front().shape())))
      return "ERR only filters of the same size can be merged into one that does not scale";
  }
  if (layers > LayerChain<Layer>::max_layers)
    return "ERR bloom object reached max number of filters";
  if (!base.plan().is_scaling && items > base.layers().front().capacity())
    return "ERR non scaling filter is full";
  return nullptr;
}

const char* limit_error(MemoryLimit::Answer answer) {
  switch (answer) {
    case MemoryLimit::Answer::yes:
      return nullptr;
    case MemoryLimit::Answer::object_too_large:
      return "ERR operation exceeds bloom object memory limit";
    case MemoryLimit::Answer::no_room:
      break;
  }
  return "ERR Insufficient memory to create filter";
}

/// Null, or why not.
const char* gather(Context* context, Arguments names, std::vector<const BloomValue*>& sources) {
  for (String* const name : names) {
    const BloomKey key(context, name, open_read);
    const BloomValue* const value = key.bloom();
    if (value == nullptr) return key.is_missing() ? "ERR not found" : wrong_type;
    if (!value->is_whole()) return "ERR a filter that is still being loaded cannot be merged";
    if (std::ranges::find(sources, value) == sources.end()) sources.push_back(value);
  }
  return nullptr;
}

int merge(Context* context, String** argv, int argc) {
  if (argc < 3) return api::wrong_arity(context);
  std::vector<const BloomValue*> sources;
  if (const char* const refused =
          gather(context, Arguments(argv + 2, static_cast<std::size_t>(argc - 2)), sources))
    return reply_error(context, refused);
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* const target = key.bloom();
  if (target == nullptr && !key.is_missing()) return reply_error(context, wrong_type);
  if (target != nullptr && !target->is_whole())
    return reply_error(context, "ERR a filter that is still being loaded cannot be merged");

  // Without a target, the first source is copied to be it.
  const BloomValue& base = target != nullptr ? *target : *sources.front();
  if (const char* const refused =
          base.visit([&](const auto& chain) { return check_merge(chain, sources); }))
    return reply_error(context, refused);
  if (target != nullptr) std::erase(sources, target);
  std::uint64_t more_bytes = 0;
  for (const BloomValue* const source : sources)
    more_bytes += source->visit([](const auto& chain) { return chain.size_bytes(); });
  const std::uint64_t held_bytes =
      target == nullptr ? 0 : target->visit([](const auto& chain) { return chain.size_bytes(); });
  if (const char* const refused = limit_error(memory_limit(context).ask(held_bytes, more_bytes)))
    return reply_error(context, refused);

  std::vector<BloomValue> copies;
  for (const BloomValue* const source : sources) {
    auto copied = copy_of(*source);
    if (!copied) return reply_error(context, limit_error(MemoryLimit::Answer::no_room));
    copies.push_back(*std::move(copied));
  }
  auto next = copies.begin();
  BloomValue* joined = target;
  if (joined == nullptr) joined = key.create(std::move(*next++));
  for (; next != copies.end(); ++next) {
    if (NativeChain* const chain = joined->native()) {
      chain->merge(std::move(*next->native()));
    } else {
      joined->classic()->merge(std::move(*next->classic()));
    }
  }
  api::replicate_verbatim(context);
  key.changed("bloom.merge");
  return reply_ok(context);
}

int clear(Context* context, String** argv, int argc) {
  if (argc != 2) return api::wrong_arity(context);
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* const value = key.bloom();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  value->visit([](auto& chain) { chain.clear(); });
  value->set_load({});
  api::replicate_verbatim(context);
  key.changed("bloom.clear");
  return reply_ok(context);
}

Argument key_argument{.name = "key", .type = argument_key, .key_spec_index = 0};
Argument clear_arguments[] = {key_argument, {}};
Argument merge_arguments[] = {
    {.name = "destination", .type = argument_key, .key_spec_index = 0},
    {.name = "source", .type = argument_key, .key_spec_index = 1, .flags = argument_multiple},
    {}};

constexpr std::uint64_t written = key_read_write | key_insert;

}  // namespace

std::span<const CommandSpec> bloom_whole_commands() {
  static const CommandSpec all[] = {
      {"BF.MERGE", merge, "write deny-oom", "write bloom", -3, written,
       "Adds what is in Bloom filters to another one, which is created if it is missing.",
       "O(N) with N the bytes of the sources", "0.1.0", merge_arguments, nullptr, 0, -1},
      {"BF.CLEAR", clear, "write", "write bloom", 2, key_read_write | key_delete,
       "Empties a Bloom filter, which keeps its parameters.", "O(N) with N the bytes of the filter",
       "0.1.0", clear_arguments},
  };
  return all;
}

}  // namespace guestlist::server
