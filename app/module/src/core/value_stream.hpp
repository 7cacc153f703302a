#pragma once

// What the server's snapshot gives and takes: numbers and strings in a fixed order. The readers of
// filters work on these two interfaces, so that a fuzzer can hand them anything.
//
// A reader that failed gives zeros and empty strings from there on; who reads asks `has_failed`
// before it believes.

#include <cstdint>
#include <memory>

#include "guestlist/base/bytes.hpp"

namespace guestlist::server {

/// A string that was read, and how to let go of it.
class ReadString {
 public:
  using Release = void (*)(void*);

  ReadString() noexcept : text_(nullptr, [](void*) {}) {}
  ReadString(char* text, std::size_t size, Release release) noexcept
      : text_(text, release), size_(size) {}

  ByteView bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(text_.get()), size_};
  }
  std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<char, Release> text_;
  std::size_t size_ = 0;
};

class ValueReader {
 public:
  virtual ~ValueReader() = default;
  virtual std::uint64_t number() = 0;
  virtual double real() = 0;
  virtual ReadString string() = 0;
  virtual bool has_failed() const = 0;
};

class ValueWriter {
 public:
  virtual ~ValueWriter() = default;
  virtual void number(std::uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void string(ByteView bytes) = 0;
};

}  // namespace guestlist::server
