#pragma once

// Little-endian numbers, packed one after the other, as the headers of dumped filters have them.
// A reader that runs out says so at the end and gives zeros until then.

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "guestlist/base/bytes.hpp"

namespace guestlist::server {

class ByteWriter {
 public:
  template <class Number>
  requires std::is_unsigned_v<Number>
  void put(Number value) {
    char bytes[sizeof value];
    store_little_endian(bytes, value);
    text_.append(bytes, sizeof value);
  }
  void put(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  void put(ByteView bytes) { text_.append(as_text(bytes)); }

  const std::string& text() const noexcept { return text_; }
  std::string take() noexcept { return std::move(text_); }

 private:
  std::string text_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) noexcept : rest_(bytes) {}

  template <class Number>
  requires std::is_unsigned_v<Number> Number get()
  noexcept {
    const ByteView bytes = take(sizeof(Number));
    return bytes.empty() ? Number{0} : load_little_endian<Number>(bytes.data());
  }
  double get_double() noexcept { return std::bit_cast<double>(get<std::uint64_t>()); }
  /// Exactly `count` bytes, or none.
  ByteView take(std::size_t count) noexcept {
    if (rest_.size() < count) {
      is_short_ = true;
      rest_ = {};
      return {};
    }
    const ByteView bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }

  /// Every number was there, and nothing is left.
  bool is_exact() const noexcept { return !is_short_ && rest_.empty(); }
  bool is_short() const noexcept { return is_short_; }
  std::size_t left() const noexcept { return rest_.size(); }

 private:
  ByteView rest_;
  bool is_short_ = false;
};

}  // namespace guestlist::server
