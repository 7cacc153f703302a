#include "guestlist/redis/redisson_codec.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "guestlist/base/utf16.hpp"
#include "java_serial_forms.hpp"

namespace guestlist {
namespace {

constexpr std::array codec_names = {
    std::pair{RedissonCodec::string, std::string_view("string")},
    std::pair{RedissonCodec::long_integer, std::string_view("long")},
    std::pair{RedissonCodec::integer, std::string_view("int")},
    std::pair{RedissonCodec::byte_array, std::string_view("bytes")},
    std::pair{RedissonCodec::json_jackson, std::string_view("json")},
    std::pair{RedissonCodec::typed_json_jackson, std::string_view("typed-json")},
    std::pair{RedissonCodec::kryo5, std::string_view("kryo5")},
    std::pair{RedissonCodec::kryo5_references, std::string_view("kryo5-references")},
    std::pair{RedissonCodec::marshalling, std::string_view("marshalling")},
    std::pair{RedissonCodec::serialization, std::string_view("serialization")},
};

constexpr std::array type_names = {
    std::pair{JavaType::string, std::string_view("string")},
    std::pair{JavaType::long_integer, std::string_view("long")},
    std::pair{JavaType::integer, std::string_view("int")},
    std::pair{JavaType::byte_array, std::string_view("bytes")},
};

template <class Names, class Value>
std::string_view word_of(const Names& names, Value value) noexcept {
  for (const auto& [known, word] : names) {
    if (known == value) return word;
  }
  return "unknown";
}

template <class Value, std::size_t size>
std::optional<Value> value_of(const std::array<std::pair<Value, std::string_view>, size>& names,
                              std::string_view wanted) noexcept {
  for (const auto& [value, word] : names) {
    if (word == wanted) return value;
  }
  return std::nullopt;
}

template <class Names>
std::string all_words(const Names& names) {
  std::string words;
  for (const auto& [value, word] : names) {
    if (!words.empty()) words += ", ";
    words += word;
  }
  return words;
}

constexpr JavaType natural_type(RedissonCodec codec) noexcept {
  switch (codec) {
    case RedissonCodec::long_integer:
      return JavaType::long_integer;
    case RedissonCodec::integer:
      return JavaType::integer;
    case RedissonCodec::byte_array:
      return JavaType::byte_array;
    default:
      return JavaType::string;
  }
}

tl::unexpected<Error> not_together(RedissonCodec codec, JavaType type) {
  return fail(Errc::invalid_argument,
              fmt::format("the codec {} has no form for keys of the Java type {}; the codec bytes "
                          "takes the type bytes, and every other codec string, long and int",
                          name(codec), name(type)));
}

template <class Form>
Result<std::string> written(RedissonCodec codec, const JavaValue& key) {
  return std::visit(
      [codec](const auto& value) -> Result<std::string> {
        if constexpr (std::is_same_v<decltype(value), const JavaBytes&>) {
          return not_together(codec, JavaType::byte_array);
        } else {
          return Form::of(value);
        }
      },
      key);
}

/// As Java's parseLong and parseInt, for the digits of ASCII.
template <class Integer>
Result<JavaValue> number_in(std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Integer value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || end != digits.data() + digits.size()) {
    return fail(Errc::invalid_argument,
                fmt::format("the key '{}' is no integer of {} bits; for other keys choose "
                            "java=string, or java=long for large ones",
                            text.substr(0, 40), sizeof value * 8));
  }
  return value;
}

tl::unexpected<Error> not_text(std::size_t at) {
  return fail(Errc::invalid_argument,
              fmt::format("a key is not valid UTF-8 at byte {}, and Java has no String for it; "
                          "choose the codec bytes for keys that are no text",
                          at));
}

Result<JavaValue> java_value(JavaType type, std::string_view key) {
  switch (type) {
    case JavaType::long_integer:
      return number_in<std::int64_t>(key);
    case JavaType::integer:
      return number_in<std::int32_t>(key);
    case JavaType::byte_array:
      return JavaBytes{key};
    case JavaType::string:
      break;
  }
  auto units = utf16_from_utf8(key);
  if (!units) return not_text(valid_utf8_prefix(key));
  return std::move(*units);
}

}  // namespace

std::string_view name(RedissonCodec codec) noexcept {
  return word_of(codec_names, codec);
}
std::optional<RedissonCodec> redisson_codec_from_name(std::string_view wanted) noexcept {
  return value_of(codec_names, wanted);
}
std::string_view name(JavaType type) noexcept {
  return word_of(type_names, type);
}
std::optional<JavaType> java_type_from_name(std::string_view wanted) noexcept {
  return value_of(type_names, wanted);
}

Result<std::string> encode(RedissonCodec codec, const JavaValue& key) {
  switch (codec) {
    case RedissonCodec::byte_array:
      if (const auto* bytes = std::get_if<JavaBytes>(&key)) return std::string(bytes->bytes);
      return not_together(codec, static_cast<JavaType>(key.index()));
    case RedissonCodec::json_jackson:
      return written<ClassedJson>(codec, key);
    case RedissonCodec::typed_json_jackson:
      return written<Json>(codec, key);
    case RedissonCodec::kryo5:
      return written<Kryo5>(codec, key);
    case RedissonCodec::kryo5_references:
      return written<Kryo5References>(codec, key);
    case RedissonCodec::marshalling:
      return written<River>(codec, key);
    case RedissonCodec::serialization:
      return written<ObjectStream>(codec, key);
    case RedissonCodec::string:
    case RedissonCodec::long_integer:
    case RedissonCodec::integer:
      break;
  }
  return written<PlainText>(codec, key);
}

Result<RedissonEncoding> RedissonEncoding::parse(std::string_view codec_word,
                                                 std::string_view java_word) {
  RedissonEncoding encoding;
  if (!codec_word.empty()) {
    const auto codec = redisson_codec_from_name(codec_word);
    if (!codec) {
      return fail(Errc::invalid_argument, fmt::format("codec={} is no codec; there are {}",
                                                      codec_word, all_words(codec_names)));
    }
    encoding.codec = *codec;
  }
  encoding.type = natural_type(encoding.codec);
  if (!java_word.empty()) {
    const auto type = java_type_from_name(java_word);
    if (!type) {
      return fail(Errc::invalid_argument, fmt::format("java={} is no type of a key; there are {}",
                                                      java_word, all_words(type_names)));
    }
    encoding.type = *type;
  }
  const bool is_bytes = encoding.type == JavaType::byte_array;
  if (is_bytes != (encoding.codec == RedissonCodec::byte_array)) {
    return not_together(encoding.codec, encoding.type);
  }
  return encoding;
}

Result<std::string_view> RedissonEncoding::encode(std::string_view key, std::string& buffer) const {
  if (codec == RedissonCodec::byte_array && type == JavaType::byte_array) return key;
  if (codec == RedissonCodec::string && type == JavaType::string) {
    // Valid UTF-8 is what Java would hash already.
    const std::size_t valid = valid_utf8_prefix(key);
    if (valid != key.size()) return not_text(valid);
    return key;
  }
  const auto value = java_value(type, key);
  if (!value) return fail(value.error());
  auto encoded = guestlist::encode(codec, *value);
  if (!encoded) return fail(std::move(encoded).error());
  buffer = std::move(*encoded);
  return buffer;
}

}  // namespace guestlist
