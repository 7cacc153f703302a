#pragma once

// The bytes that Java's serialisers write for a String, a Long and an Integer, one struct a
// serialiser. Pure functions; tested through RedissonCodec.

#include <cstdint>
#include <string>
#include <string_view>

namespace guestlist {

/// Object.toString() in UTF-8.
struct PlainText {
  static std::string of(std::u16string_view text);
  static std::string of(std::int64_t value);
  static std::string of(std::int32_t value);
};

/// Jackson 2 with its default settings and no class names.
struct Json {
  static std::string of(std::u16string_view text);
  static std::string of(std::int64_t value);
  static std::string of(std::int32_t value);
};

/// Jackson 2 with the class of what JSON would give back as another: a Long, not an Integer.
struct ClassedJson : Json {
  using Json::of;
  static std::string of(std::int64_t value);
};

/// Kryo 5: the number of the class, then the value.
struct Kryo5 {
  static std::string of(std::u16string_view text);
  static std::string of(std::int64_t value);
  static std::string of(std::int32_t value);
};

/// Kryo 5 that marks the first sight of an object; boxed numbers are none to it.
struct Kryo5References : Kryo5 {
  using Kryo5::of;
  static std::string of(std::u16string_view text);
};

/// JBoss Marshalling's river protocol, version 4.
struct River {
  static std::string of(std::u16string_view text);
  static std::string of(std::int64_t value);
  static std::string of(std::int32_t value);
};

/// java.io.ObjectOutputStream.
struct ObjectStream {
  static std::string of(std::u16string_view text);
  static std::string of(std::int64_t value);
  static std::string of(std::int32_t value);
};

}  // namespace guestlist
