#pragma once

// Filters in the server's snapshots (RDB files, DUMP and RESTORE, full synchronisation), in two
// types: `MBbloom--` encoding 4, which is RedisBloom's, for the classic layout, and `GLbloom--`
// encoding 1 for the native one and for classic filters that are still arriving, which the former
// cannot tell (docs/formats/module.md). Older encodings of the former are read.
//
// What is read may be hostile. Memory is taken as bytes arrive: never more than twice of what came,
// and 64 KiB.

#include "core/bloom_value.hpp"
#include "core/value_stream.hpp"

namespace guestlist::server {

inline constexpr const char* classic_bloom_type_name = "MBbloom--";
inline constexpr int classic_bloom_encoding = 4;
inline constexpr const char* own_bloom_type_name = "GLbloom--";
inline constexpr int own_bloom_encoding = 1;

void save_classic_bloom(const ClassicChain& chain, ValueWriter& out);
/// Errors: `corrupt`, `truncated`, `newer_version`, `too_large`.
Result<BloomValue> load_classic_bloom(ValueReader& in, int encoding);

void save_own_bloom(const BloomValue& value, ValueWriter& out);
Result<BloomValue> load_own_bloom(ValueReader& in, int encoding);

}  // namespace guestlist::server
