#include "java_serial_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/utf16.hpp"

namespace guestlist {
namespace {

using namespace std::string_view_literals;

template <class Unsigned>
void append_big_endian(std::string& out, Unsigned value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  store_big_endian(out.data() + at, value);
}

/// Each unit by itself, so that a surrogate pair becomes two times three bytes.
void append_units(std::string& out, std::u16string_view units) {
  for (const char16_t unit : units) append_utf8(out, unit);
}

/// As append_units, and U+0000 becomes two bytes too, so that no byte is zero.
void append_modified_utf8(std::string& out, std::u16string_view units) {
  for (const char16_t unit : units) {
    if (unit == 0) {
      out += "\xC0\x80"sv;
    } else {
      append_utf8(out, unit);
    }
  }
}

/// Groups of seven bits, the lowest first; at most `max_bytes`, of which the last holds eight.
void append_variable_length(std::string& out, std::uint64_t value, int max_bytes) {
  for (int written = 1; value >= 0x80 && written < max_bytes; ++written, value >>= 7) {
    out += static_cast<char>(0x80 | (value & 0x7F));
  }
  out += static_cast<char>(value);
}

/// As append_variable_length behind a first byte that holds six bits under a set flag.
void append_flagged_length(std::string& out, std::uint32_t value) {
  const bool has_more = value >> 6 != 0;
  out += static_cast<char>(0x80 | (has_more ? 0x40 : 0) | (value & 0x3F));
  if (has_more) append_variable_length(out, value >> 6, 5);
}

/// Small numbers of either sign become small numbers.
constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

void append_kryo_string(std::string& out, std::u16string_view text) {
  constexpr std::size_t max_ascii_length = 32;
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char16_t c) { return c < 0x80; });
  if (is_ascii && text.size() > 1 && text.size() <= max_ascii_length) {
    for (const char16_t unit : text) out += static_cast<char>(unit);
    out.back() = static_cast<char>(out.back() | 0x80);
    return;
  }
  append_flagged_length(out, static_cast<std::uint32_t>(text.size() + 1));
  append_units(out, text);
}

/// The letter that stands for `unit` behind a backslash, or zero where none does.
constexpr char json_escape(char16_t unit) noexcept {
  switch (unit) {
    case u'"':
      return '"';
    case u'\\':
      return '\\';
    case u'\b':
      return 'b';
    case u'\t':
      return 't';
    case u'\n':
      return 'n';
    case u'\f':
      return 'f';
    case u'\r':
      return 'r';
    default:
      return 0;
  }
}

// The numbers under which Kryo knows the classes.
constexpr char kryo_integer = 2;
constexpr char kryo_string = 3;
constexpr char kryo_long = 9;

constexpr char river_version = 4;

/// The start of every stream of java.io.ObjectOutputStream: magic and version.
constexpr auto stream_head = "\xAC\xED\x00\x05"sv;
/// The description of java.lang.Number, from which Long and Integer descend, then nothing more.
constexpr auto number_class =
    "\x72\x00\x10java.lang.Number\x86\xAC\x95\x1D\x0B\x94\xE0\x8B\x02\x00\x00\x78\x70"sv;

}  // namespace

std::string PlainText::of(std::u16string_view text) {
  return utf8_from_utf16(text);
}
std::string PlainText::of(std::int64_t value) {
  return std::to_string(value);
}
std::string PlainText::of(std::int32_t value) {
  return std::to_string(value);
}

std::string Json::of(std::u16string_view text) {
  std::string out = "\"";
  for (const char16_t unit : text) {
    if (const char escape = json_escape(unit)) {
      out += '\\';
      out += escape;
    } else if (unit < 0x20 || is_surrogate(unit)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<unsigned>(unit));
    } else {
      append_utf8(out, unit);
    }
  }
  return out += '"';
}
std::string Json::of(std::int64_t value) {
  return std::to_string(value);
}
std::string Json::of(std::int32_t value) {
  return std::to_string(value);
}

std::string ClassedJson::of(std::int64_t value) {
  return fmt::format(R"(["java.lang.Long",{}])", value);
}

std::string Kryo5::of(std::u16string_view text) {
  std::string out(1, kryo_string);
  append_kryo_string(out, text);
  return out;
}
std::string Kryo5::of(std::int64_t value) {
  std::string out(1, kryo_long);
  append_variable_length(out, zigzag(value), 9);
  return out;
}
std::string Kryo5::of(std::int32_t value) {
  std::string out(1, kryo_integer);
  append_variable_length(out, zigzag(value), 5);
  return out;
}

std::string Kryo5References::of(std::u16string_view text) {
  std::string out = {kryo_string, 1};
  append_kryo_string(out, text);
  return out;
}

std::string River::of(std::u16string_view text) {
  std::string out(1, river_version);
  const std::size_t length = text.size();
  // A full power of two is written as zero.
  if (length == 0) {
    out += '\x3D';
  } else if (length <= 0x100) {
    out += '\x3E';
    append_big_endian(out, static_cast<std::uint8_t>(length));
  } else if (length <= 0x10000) {
    out += '\x3F';
    append_big_endian(out, static_cast<std::uint16_t>(length));
  } else {
    out += '\x40';
    append_big_endian(out, static_cast<std::uint32_t>(length));
  }
  append_modified_utf8(out, text);
  return out;
}
std::string River::of(std::int64_t value) {
  std::string out = {river_version, '\x4C'};
  append_big_endian(out, static_cast<std::uint64_t>(value));
  return out;
}
std::string River::of(std::int32_t value) {
  std::string out = {river_version, '\x4B'};
  append_big_endian(out, static_cast<std::uint32_t>(value));
  return out;
}

std::string ObjectStream::of(std::u16string_view text) {
  std::string body;
  append_modified_utf8(body, text);
  std::string out(stream_head);
  if (body.size() <= 0xFFFF) {
    out += '\x74';
    append_big_endian(out, static_cast<std::uint16_t>(body.size()));
  } else {
    out += '\x7C';
    append_big_endian(out, static_cast<std::uint64_t>(body.size()));
  }
  return out += body;
}
std::string ObjectStream::of(std::int64_t value) {
  std::string out(stream_head);
  out +=
      "\x73\x72\x00\x0Ejava.lang.Long\x3B\x8B\xE4\x90\xCC\x8F\x23\xDF\x02\x00\x01J\x00\x05value\x78"sv;
  out += number_class;
  append_big_endian(out, static_cast<std::uint64_t>(value));
  return out;
}
std::string ObjectStream::of(std::int32_t value) {
  std::string out(stream_head);
  out +=
      "\x73\x72\x00\x11java.lang.Integer\x12\xE2\xA0\xA4\xF7\x81\x87\x38\x02\x00\x01I\x00\x05value\x78"sv;
  out += number_class;
  append_big_endian(out, static_cast<std::uint32_t>(value));
  return out;
}

}  // namespace guestlist
