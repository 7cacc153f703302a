#pragma once

// A snapshot as bytes, so that tests and fuzzers can keep one, cut it and change it: a number is 8
// bytes, a string 4 bytes of length and its own.

#include <bit>
#include <string>

#include "core/byte_stream.hpp"
#include "core/value_stream.hpp"

namespace guestlist::server {

class SnapshotWriter final : public ValueWriter {
 public:
  void number(std::uint64_t value) override { bytes_.put(value); }
  void real(double value) override { bytes_.put(value); }
  void string(ByteView bytes) override {
    bytes_.put(static_cast<std::uint32_t>(bytes.size()));
    bytes_.put(bytes);
  }
  const std::string& text() const { return bytes_.text(); }

 private:
  ByteWriter bytes_;
};

class SnapshotReader : public ValueReader {
 public:
  explicit SnapshotReader(ByteView bytes) : in_(bytes) {}

  std::uint64_t number() override { return in_.get<std::uint64_t>(); }
  double real() override { return in_.get_double(); }
  ReadString string() override {
    const ByteView bytes = in_.take(in_.get<std::uint32_t>());
    // A copy of its own, so that a sanitizer sees who reads past its end.
    auto* const copy = static_cast<char*>(std::malloc(bytes.size()));
    std::copy_n(reinterpret_cast<const char*>(bytes.data()), bytes.size(), copy);
    return {copy, bytes.size(), [](void* memory) { std::free(memory); }};
  }
  bool has_failed() const override { return in_.is_short(); }

 private:
  ByteReader in_;
};

}  // namespace guestlist::server
