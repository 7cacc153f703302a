// CF.SCANDUMP and CF.LOADCHUNK: a filter piece by piece, out and in.

#include "core/cuckoo_dump.hpp"
#include "cuckoo_commands.hpp"
#include "cuckoo_keys.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

/// Null, or the sentence of the refusal.
const char* load_header(Context* context, CuckooKey& key, ByteView bytes) {
  if (key.cuckoo() != nullptr) return "ERR item exists";
  const auto header = parse_cuckoo_header(bytes);
  if (!header)
    return header.error().code == Errc::truncated ? "Invalid header" : "Couldn't create filter!";
  auto made = cuckoo_from_header(*header, memory_limit(context));
  if (!made) return "ERR Insufficient memory to create filter";
  key.create(*std::move(made));
  return nullptr;
}

/// Null, or the sentence of the refusal.
const char* load_piece(CuckooKey& key, long long iterator, ByteView bytes) {
  CuckooChain* const value = key.cuckoo();
  if (value == nullptr) return "ERR not found";
  return load_cuckoo_chunk(*value, iterator, bytes) ? nullptr : "Couldn't load chunk!";
}

}  // namespace

int cuckoo_scan_dump(Context* context, String** argv, int argc) {
  if (argc != 3) return api::wrong_arity(context);
  long long iterator = 0;
  if (api::string_to_long_long(argv[2], &iterator) != ok || iterator < 0)
    return reply_error(context, "Invalid position");
  const CuckooKey key(context, argv[1], open_read);
  const CuckooChain* const value = key.cuckoo();
  if (value == nullptr)
    return reply_error(context, key.is_missing() ? "ERR not found" : wrong_type);
  api::reply_with_array(context, 2);
  // Whoever reads strict filters expects that one without items has no dump.
  const bool has_dump = !value->plan().is_strict || value->items() > 0;
  if (iterator == 0 && has_dump) {
    const std::string header = cuckoo_header(*value);
    api::reply_with_long_long(context, 1);
    return api::reply_with_string_buffer(context, header.data(), header.size());
  }
  const Chunk chunk =
      has_dump ? cuckoo_chunk(*value, static_cast<std::uint64_t>(iterator)) : Chunk{};
  api::reply_with_long_long(context, static_cast<long long>(chunk.next));
  if (chunk.next == 0) return api::reply_with_null(context);
  return api::reply_with_string_buffer(context, reinterpret_cast<const char*>(chunk.bytes.data()),
                                       chunk.bytes.size());
}

int cuckoo_load_chunk(Context* context, String** argv, int argc) {
  if (argc != 4) return api::wrong_arity(context);
  long long iterator = 0;
  if (api::string_to_long_long(argv[2], &iterator) != ok || iterator < 1)
    return reply_error(context, "Invalid position");
  CuckooKey key(context, argv[1], open_read | open_write);
  if (key.cuckoo() == nullptr && !key.is_missing()) return reply_error(context, wrong_type);
  const ByteView bytes = as_bytes(view(argv[3]));
  const char* const refused =
      iterator == 1 ? load_header(context, key, bytes) : load_piece(key, iterator, bytes);
  if (refused != nullptr) return reply_error(context, refused);
  api::replicate_verbatim(context);
  key.changed("cuckoo.loadchunk");
  return reply_ok(context);
}

}  // namespace guestlist::server
