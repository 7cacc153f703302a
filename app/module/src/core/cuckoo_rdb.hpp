#pragma once

// Cuckoo filters in the server's snapshots (RDB files, DUMP and RESTORE, full synchronisation), in
// two types: `MBbloomCF` encoding 4, which is RedisBloom's, for strict filters, and `GLcuckoo-`
// encoding 1 for all others and for strict filters that are still arriving or have the old hash,
// which the former cannot tell (docs/formats/cuckoo.md). Encodings of the former from before 4 are
// refused: a server that read them could not write them back under their type.
//
// What is read may be hostile. Memory is taken as bytes arrive: never more than twice of what came,
// and 64 KiB.

#include "core/cuckoo_chain.hpp"
#include "core/value_stream.hpp"

namespace guestlist::server {

inline constexpr const char* strict_cuckoo_type_name = "MBbloomCF";
inline constexpr int strict_cuckoo_encoding = 4;
inline constexpr const char* own_cuckoo_type_name = "GLcuckoo-";
inline constexpr int own_cuckoo_encoding = 1;

void save_strict_cuckoo(const CuckooChain& chain, ValueWriter& out);
/// Errors: `corrupt`, `truncated`, `newer_version`, `foreign_format`, `too_large`.
Result<CuckooChain> load_strict_cuckoo(ValueReader& in, int encoding);

void save_own_cuckoo(const CuckooChain& chain, ValueWriter& out);
Result<CuckooChain> load_own_cuckoo(ValueReader& in, int encoding);

}  // namespace guestlist::server
