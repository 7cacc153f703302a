#include "java_numbers.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace guestlist {
namespace {

/// digits[0] . digits[1…] × 10^exponent; the last digit is not 0, unless it is the only one.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// With the fewest digits that read back as `value`, but two where one would do and two come
/// closer: the smallest double is 4.9E-324 to Java and 5e-324 to others. Requires: value > 0.
Decimal shortest_decimal(double value) {
  std::array<char, 32> buffer;
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const char* end = std::to_chars(begin, limit, value, std::chars_format::scientific).ptr;
  if (begin[1] != '.') {
    end = std::to_chars(begin, limit, value, std::chars_format::scientific, 1).ptr;
  }
  const std::string_view text(begin, static_cast<std::size_t>(end - begin));
  const std::size_t e = text.find('e');
  Decimal decimal;
  decimal.digits += text[0];
  decimal.digits += text.substr(2, e - 2);
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  // from_chars takes no plus sign.
  const char* const exponent = begin + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, end, decimal.exponent);
  return decimal;
}

}  // namespace

std::string java_double_text(double value) {
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0) return sign + "0.0";
  auto [digits, exponent] = shortest_decimal(std::abs(value));
  if (exponent < -3 || exponent > 6) {
    const std::string fraction = digits.size() == 1 ? "0" : digits.substr(1);
    return sign + digits[0] + "." + fraction + "E" + std::to_string(exponent);
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole_digits = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole_digits + 1) digits.resize(whole_digits + 1, '0');
  return sign + digits.substr(0, whole_digits) + "." + digits.substr(whole_digits);
}

}  // namespace guestlist
