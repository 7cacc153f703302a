// GL.CHECK and GL.GUARD: questions with three answers. `absent` is said by a filter that is there
// and whole, and from which nobody deleted what others may still hold; of any other the answer is
// `unknown`, and whoever asks lets the key pass.

#include <array>

#include "bloom_keys.hpp"
#include "cuckoo_keys.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

enum class Verdict : std::uint8_t { maybe, absent, unknown };

int reply_verdict(Context* context, Verdict verdict) {
  constexpr std::array<const char*, 3> words = {"maybe", "absent", "unknown"};
  return api::reply_with_simple_string(context, words[static_cast<std::size_t>(verdict)]);
}

constexpr std::size_t batch = 256;
static_assert(batch <= NativeChain::batch && batch <= CuckooChain::batch);

/// What a key holds that can be asked: a filter of either family, or nothing.
class Asked {
 public:
  Asked(Context* context, String* name)
      : bloom_key_(context, name, open_read), cuckoo_key_(context, name, open_read) {}

  /// Requires: at most a batch of items, and as many verdicts.
  void judge(Arguments items, Verdict* verdicts) const {
    std::array<std::string_view, batch> views;
    std::array<bool, batch> found{};
    for (std::size_t i = 0; i < items.size(); ++i) views[i] = view(items[i]);
    const std::span<const std::string_view> some(views.data(), items.size());
    Verdict otherwise = Verdict::unknown;
    if (const BloomValue* const value = bloom_key_.bloom()) {
      if (value->is_whole()) {
        otherwise = Verdict::absent;
        value->visit([&](const auto& chain) { chain.may_contain_many(some, found.data()); });
      }
    } else if (const CuckooChain* const cuckoo = cuckoo_key_.cuckoo(); cuckoo != nullptr) {
      if (cuckoo->is_whole()) cuckoo->may_contain_many(some, found.data());
      if (cuckoo->proves_absence(settings().trusts_deletes)) otherwise = Verdict::absent;
    }
    for (std::size_t i = 0; i < items.size(); ++i)
      verdicts[i] = found[i] ? Verdict::maybe : otherwise;
  }

 private:
  BloomKey bloom_key_;
  CuckooKey cuckoo_key_;
};

int check(Context* context, String** argv, int argc) {
  if (argc < 3) return api::wrong_arity(context);
  const Arguments items(argv + 2, static_cast<std::size_t>(argc - 2));
  const Asked filter(context, argv[1]);
  api::reply_with_array(context, argc - 2);
  std::array<Verdict, batch> verdicts;
  for (std::size_t start = 0; start < items.size(); start += verdicts.size()) {
    const Arguments some = items.subspan(start, std::min(verdicts.size(), items.size() - start));
    filter.judge(some, verdicts.data());
    for (std::size_t i = 0; i < some.size(); ++i) reply_verdict(context, verdicts[i]);
  }
  return ok;
}

int guard(Context* context, String** argv, int argc) {
  if (argc != 4) return api::wrong_arity(context);
  Verdict verdict = Verdict::unknown;
  Asked(context, argv[1]).judge(Arguments(argv + 2, 1), &verdict);
  // The cache is asked whatever the verdict: an entry that is there proves the filter wrong.
  const OpenKey cached(context, argv[3], open_read);
  if (!cached.is_missing() && api::key_type(cached.raw()) != key_string)
    return reply_error(context, wrong_type);
  api::reply_with_array(context, 2);
  if (cached.is_missing()) {
    reply_verdict(context, verdict);
    return api::reply_with_null(context);
  }
  std::size_t size = 0;
  const char* const text = api::string_dma(cached.raw(), &size, open_read);
  reply_verdict(context, verdict == Verdict::absent ? Verdict::maybe : verdict);
  return api::reply_with_string_buffer(context, text, size);
}

Argument check_arguments[] = {{.name = "key", .type = argument_key, .key_spec_index = 0},
                              {.name = "item", .flags = argument_multiple},
                              {}};
Argument guard_arguments[] = {{.name = "filter", .type = argument_key, .key_spec_index = 0},
                              {.name = "item"},
                              {.name = "cachekey", .type = argument_key, .key_spec_index = 1},
                              {}};

constexpr std::uint64_t read = key_read_only | key_access;

}  // namespace

std::span<const CommandSpec> verdict_commands() {
  static const CommandSpec all[] = {
      {"GL.CHECK", check, "readonly fast", "read bloom cuckoo", -3, read,
       "Tells of each item whether it is maybe there, absent, or unknown because the filter is not "
       "there, not whole, or was deleted from.",
       "O(N * L) with N the number of items and L that of layers", "0.1.0", check_arguments},
      {"GL.GUARD", guard, "readonly fast", "read bloom cuckoo", 4, read,
       "Checks an item as GL.CHECK does and gets a cached value, in one step.",
       "O(L) with L the number of layers", "0.1.0", guard_arguments, nullptr, 3},
  };
  return all;
}

}  // namespace guestlist::server
