#pragma once

// The server's snapshot as the readers and writers of filters see it.

#include "core/value_stream.hpp"
#include "server_api.hpp"

namespace guestlist::server {

class ServerReader final : public ValueReader {
 public:
  explicit ServerReader(Io* io) noexcept : io_(io) {}

  std::uint64_t number() override { return has_failed() ? 0 : api::load_unsigned(io_); }
  double real() override { return has_failed() ? 0 : api::load_double(io_); }
  ReadString string() override {
    std::size_t size = 0;
    char* const text = has_failed() ? nullptr : api::load_string_buffer(io_, &size);
    if (text == nullptr) return {};
    return {text, size, [](void* memory) { api::free(memory); }};
  }
  bool has_failed() const override { return api::is_io_error(io_) != 0; }

 private:
  Io* io_;
};

class ServerWriter final : public ValueWriter {
 public:
  explicit ServerWriter(Io* io) noexcept : io_(io) {}

  void number(std::uint64_t value) override { api::save_unsigned(io_, value); }
  void real(double value) override { api::save_double(io_, value); }
  void string(ByteView bytes) override {
    api::save_string_buffer(io_, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  Io* io_;
};

}  // namespace guestlist::server
