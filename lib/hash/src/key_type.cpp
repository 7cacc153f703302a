#include "guestlist/hash/key_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

using Canonical = std::optional<std::string_view>;

constexpr std::array names = {
    std::pair{KeyType::text, std::string_view("text")},
    std::pair{KeyType::bytes, std::string_view("bytes")},
    std::pair{KeyType::integer, std::string_view("int")},
    std::pair{KeyType::uuid, std::string_view("uuid")},
    std::pair{KeyType::decimal, std::string_view("decimal")},
};

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
constexpr bool is_hex(char c) noexcept {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes a sign from the front. True: negative.
bool take_sign(std::string_view& text) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  return negative;
}

std::string_view take_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::string_view without_leading_zeros(std::string_view digits) noexcept {
  const auto first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : digits.substr(first);
}

Canonical canonical_integer(std::string_view key, std::string& buffer) {
  std::string_view rest = trim(key);
  const bool negative = take_sign(rest);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || !rest.empty()) return std::nullopt;
  const std::string_view significant = without_leading_zeros(digits);
  if (significant.empty()) return "0";
  if (!negative) return significant;
  // The sign usually stands right before the digits, and then the form lies in the key itself.
  if (significant.data() != key.data() && significant.data()[-1] == '-') {
    return std::string_view(significant.data() - 1, significant.size() + 1);
  }
  buffer.assign("-").append(significant);
  return buffer;
}

Canonical canonical_uuid(std::string_view key, std::string& buffer) {
  std::string_view rest = key;
  const bool braced = !rest.empty() && rest.front() == '{';
  if (braced) {
    if (rest.back() != '}') return std::nullopt;
    rest = rest.substr(1, rest.size() - 2);
  }
  buffer.clear();
  std::size_t digits = 0;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '-') {
      // A dash may stand after each group of four digits, once, and not at the end.
      const bool after_group = digits % 4 == 0 && digits > 0 && digits < 32 && rest[at - 1] != '-';
      if (!after_group) return std::nullopt;
      continue;
    }
    if (!is_hex(rest[at]) || digits == 32) return std::nullopt;
    if (digits == 8 || digits == 12 || digits == 16 || digits == 20) buffer += '-';
    buffer += lower(rest[at]);
    ++digits;
  }
  if (digits != 32) return std::nullopt;
  return buffer;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

/// Words that are numbers. `rest` is without its sign.
Canonical special_decimal(std::string_view rest, bool has_sign, bool negative) noexcept {
  if (equals_ignoring_case(rest, "nan") && !has_sign) return "NaN";
  if (equals_ignoring_case(rest, "infinity") || equals_ignoring_case(rest, "inf")) {
    return negative ? "-Infinity" : "Infinity";
  }
  return std::nullopt;
}

/// `e`, sign, digits; nothing there is an exponent of 0.
std::optional<std::int64_t> take_exponent(std::string_view& rest) noexcept {
  if (rest.empty() || lower(rest.front()) != 'e') return 0;
  rest.remove_prefix(1);
  const bool negative = take_sign(rest);
  const std::string_view digits = take_digits(rest);
  const std::string_view significant = without_leading_zeros(digits);
  if (digits.empty() || significant.size() > 9) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(significant.data(), significant.data() + significant.size(), value);
  return negative ? -value : value;
}

// Beyond it a number has no form: its own spelling could no longer be read back. PostgreSQL's
// numeric ends long before, at 131,072 digits.
constexpr std::int64_t max_exponent = 999'999'999;

// Zeros that may be written out to make a plain number. Beyond them the form keeps its exponent, so
// that `1e999999` stays short. Both rules depend on the value alone, never on how it was spelt.
constexpr std::int64_t max_padding_zeros = 64;

// value = 0.DIGITS x 10^point, where DIGITS begins and ends with a digit other than zero.
void append_decimal(std::string& out, std::string_view digits, std::int64_t point) {
  const auto count = static_cast<std::int64_t>(digits.size());
  if (point > count + max_padding_zeros || point < -max_padding_zeros) {
    out.append(digits).append("e").append(std::to_string(point - count));
  } else if (point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else if (point >= count) {
    out.append(digits).append(static_cast<std::size_t>(point - count), '0');
  } else {
    const auto whole = static_cast<std::size_t>(point);
    out.append(digits.substr(0, whole)).append(".").append(digits.substr(whole));
  }
}

Canonical canonical_decimal(std::string_view key, std::string& buffer) {
  std::string_view rest = trim(key);
  const std::size_t signed_size = rest.size();
  const bool negative = take_sign(rest);
  if (const Canonical special = special_decimal(rest, rest.size() != signed_size, negative))
    return special;

  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  const auto exponent = take_exponent(rest);
  if (!exponent || !rest.empty()) return std::nullopt;

  std::string digits;
  digits.reserve(whole.size() + fraction.size());
  digits.append(without_leading_zeros(whole)).append(fraction);
  auto point = static_cast<std::int64_t>(digits.size() - fraction.size()) + *exponent;
  const auto first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  point -= static_cast<std::int64_t>(first);
  const auto last = digits.find_last_not_of('0');
  if (std::abs(point - static_cast<std::int64_t>(last + 1 - first)) > max_exponent)
    return std::nullopt;
  buffer.assign(negative ? "-" : "");
  append_decimal(buffer, std::string_view(digits).substr(first, last + 1 - first), point);
  return buffer;
}

Canonical canonical_bytes(std::string_view key, std::string& buffer) {
  if (!key.starts_with("\\x")) return key;
  buffer.clear();
  for (std::size_t at = 2; at < key.size();) {
    // PostgreSQL passes over white space between two bytes, and not within one.
    if (key[at] == ' ' || key[at] == '\t' || key[at] == '\n' || key[at] == '\r') {
      ++at;
      continue;
    }
    const auto byte = from_hex(key.substr(at, 2));
    // Not the hexadecimal form, so the bytes stand for themselves.
    if (!byte || byte->size() != 1) return key;
    buffer += static_cast<char>(byte->front());
    at += 2;
  }
  return buffer;
}

}  // namespace

std::string_view name(KeyType type) noexcept {
  for (const auto& [known, word] : names) {
    if (known == type) return word;
  }
  return "text";
}

std::optional<KeyType> key_type_from_name(std::string_view wanted) noexcept {
  for (const auto& [type, word] : names) {
    if (word == wanted) return type;
  }
  return std::nullopt;
}

std::optional<std::string_view> canonicalize(KeyType type, std::string_view key,
                                             std::string& buffer) {
  switch (type) {
    case KeyType::text:
      return key;
    case KeyType::bytes:
      return canonical_bytes(key, buffer);
    case KeyType::integer:
      return canonical_integer(key, buffer);
    case KeyType::uuid:
      return canonical_uuid(key, buffer);
    case KeyType::decimal:
      return canonical_decimal(key, buffer);
  }
  return std::nullopt;
}

}  // namespace guestlist
