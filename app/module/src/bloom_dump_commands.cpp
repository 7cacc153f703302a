// BF.SCANDUMP and BF.LOADCHUNK: a filter piece by piece, out and in.

#include "bloom_dump_commands.hpp"

#include "bloom_keys.hpp"
#include "core/bloom_dump.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

int load_header(Context* context, BloomKey& key, String** argv) {
  if (key.bloom() != nullptr) return reply_error(context, "ERR received bad data");
  auto made = bloom_from_header(as_bytes(view(argv[3])), memory_limit(context));
  if (!made) {
    return reply_error(context, made.error().code == Errc::too_large
                                    ? "ERR Insufficient memory to create filter"
                                    : "ERR received bad data");
  }
  key.create(*std::move(made));
  return ok;
}

}  // namespace

int bloom_scan_dump(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  long long iterator = 0;
  if (api::string_to_long_long(argv[2], &iterator) != ok)
    return reply_error(context, "Second argument must be numeric");
  const BloomKey key(context, argv[1], open_read);
  const BloomValue* const value = key.bloom();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  api::reply_with_array(context, 2);
  if (iterator == 0) {
    const std::string header = bloom_header(*value);
    api::reply_with_long_long(context, 1);
    return api::reply_with_string_buffer(context, header.data(), header.size());
  }
  const Chunk chunk =
      iterator < 0 ? Chunk{} : bloom_chunk(*value, static_cast<std::uint64_t>(iterator));
  api::reply_with_long_long(context, static_cast<long long>(chunk.next));
  return api::reply_with_string_buffer(context, reinterpret_cast<const char*>(chunk.bytes.data()),
                                       chunk.bytes.size());
}

int bloom_load_chunk(Context* context, String** argv, int argc) {
  if (argc != 4) return api::wrong_arity(context);
  long long iterator = 0;
  if (api::string_to_long_long(argv[2], &iterator) != ok)
    return reply_error(context, "ERR Second argument must be numeric");
  BloomKey key(context, argv[1], open_read | open_write);
  BloomValue* const value = key.bloom();
  if (value == nullptr && !key.is_missing()) return reply_error(context, wrong_type);
  if (iterator == 1) {
    load_header(context, key, argv);
    if (key.bloom() == value) return ok;  // refused
  } else {
    if (value == nullptr) return reply_error(context, "ERR not found");
    if (const char* const refused = load_bloom_chunk(*value, iterator, as_bytes(view(argv[3]))))
      return reply_error(context, refused);
  }
  api::replicate_verbatim(context);
  key.changed("bloom.loadchunk");
  return reply_ok(context);
}

}  // namespace guestlist::server
