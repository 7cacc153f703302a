#pragma once

// Redisson's codecs for the keys of its RBloomFilter: from a Java value to the exact bytes that
// Java hashes. Redis does not record the codec, so whoever shares a filter with Java must know it,
// and the Java type too: 42 as Long and 42 as Integer are different bytes for most codecs. A filter
// that is asked with another codec than it was filled with calls every key absent.
//
// The codec to agree on for new filters is `string`: the text itself, the same for every Java type.
//
// Source: Redisson 3.6 to 4.7, Kryo 5, Jackson 2, JBoss Marshalling 2. Threads: pure functions.
// Tested by: RedissonCodec.* against vectors captured from Redisson 4.7.0; interop/.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "guestlist/base/result.hpp"

namespace guestlist {

enum class RedissonCodec : std::uint8_t {
  string,              ///< StringCodec: toString() in UTF-8
  long_integer,        ///< LongCodec: toString(), as StringCodec
  integer,             ///< IntegerCodec: toString(), as StringCodec
  byte_array,          ///< ByteArrayCodec: the bytes themselves
  json_jackson,        ///< JsonJacksonCodec (Jackson 2); the default up to 3.9
  typed_json_jackson,  ///< TypedJsonJacksonCodec, JacksonCodec: numbers without their class
  kryo5,               ///< Kryo5Codec; the default from 3.19 on
  kryo5_references,    ///< Kryo5Codec with useReferences = true
  marshalling,         ///< MarshallingCodec (river); the default from 3.13 to 3.18, gone in 4.1
  serialization,       ///< SerializationCodec: java.io.ObjectOutputStream
};

/// `string`, `long`, `int`, `bytes`, `json`, `typed-json`, `kryo5`, `kryo5-references`,
/// `marshalling`, `serialization`.
std::string_view name(RedissonCodec codec) noexcept;
std::optional<RedissonCodec> redisson_codec_from_name(std::string_view name) noexcept;

/// The class of a key on Java's side.
enum class JavaType : std::uint8_t {
  string,        ///< java.lang.String
  long_integer,  ///< java.lang.Long, as `long` becomes one
  integer,       ///< java.lang.Integer, as `int` becomes one
  byte_array,    ///< byte[]
};

/// `string`, `long`, `int`, `bytes`.
std::string_view name(JavaType type) noexcept;
std::optional<JavaType> java_type_from_name(std::string_view name) noexcept;

/// A byte[]; a type of its own, so that text is never taken for bytes.
struct JavaBytes {
  std::string_view bytes;
};

/// A key as Java holds it. Text is UTF-16, in which surrogates may stand alone.
using JavaValue = std::variant<std::u16string, std::int64_t, std::int32_t, JavaBytes>;

/// The bytes that Redisson hashes for `key`.
/// Errors: `invalid_argument` where the codec has no form for a key of that type: byte arrays are
/// for ByteArrayCodec, and ByteArrayCodec for byte arrays.
Result<std::string> encode(RedissonCodec codec, const JavaValue& key);

/// How keys that come as text are written for a filter that is shared with Java.
struct RedissonEncoding {
  RedissonCodec codec = RedissonCodec::string;
  JavaType type = JavaType::string;

  /// From the words of a URL, `codec=json&java=long`; an empty word is a default. Without `java`,
  /// the type is that which the codec is named after, and else String. Errors: `invalid_argument`
  /// for a word that is none, or a pair that does not go together.
  static Result<RedissonEncoding> parse(std::string_view codec, std::string_view java);

  /// The bytes that Redisson hashes for the key that `key` spells: UTF-8 for String, decimal digits
  /// for Long and Integer, the bytes themselves for byte[]. They lie in `key` or in `buffer`.
  /// Errors: `invalid_argument` for text that is not valid UTF-8, which Java has no String for, and
  /// for what is no number of the type's range. Such a key is `unparsable`: neither absent nor
  /// maybe.
  Result<std::string_view> encode(std::string_view key, std::string& buffer) const;

  friend constexpr bool operator==(const RedissonEncoding&,
                                   const RedissonEncoding&) noexcept = default;
};

}  // namespace guestlist
