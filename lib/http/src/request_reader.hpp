#pragma once

// Reads requests from the bytes of one connection, strictly: pure, it neither waits nor writes.
//
// The buffer holds the request that is being read, from its first byte; fields are kept as places
// in it, since it may move while it grows. Beast parses; what it lets through and another reader
// might take otherwise is refused here. Tested by: RequestReader.*

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "guestlist/http/http_message.hpp"

namespace guestlist::http {

class RequestReader {
 public:
  enum class State : std::uint8_t { needs_more, complete, refused };

  RequestReader(std::uint32_t max_header_bytes, std::uint64_t max_body_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Room for further bytes; `received` says how many came.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }

  /// Reads on. Once complete, it stays so until `next`.
  State read();
  /// Where complete; valid until the next call of `room` or `next`.
  HttpRequestView request();
  bool keeps_alive() const noexcept { return keeps_alive_; }
  bool is_http_1_0() const noexcept { return is_http_1_0_; }
  bool has_begun() const noexcept { return end_ > begin_; }
  bool has_header() const noexcept { return has_header_; }
  /// Once, where the peer waits for `100 Continue` before it sends the body.
  bool takes_continue() noexcept { return std::exchange(wants_continue_, false); }
  /// Where refused: 400, 413 or 431.
  unsigned refusal() const noexcept { return refusal_; }
  /// Forgets the request that is complete.
  void next();

 private:
  class Parser;
  struct Place {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  std::string_view text(Place place) const noexcept {
    return {buffer_.data() + place.at, place.size};
  }
  void begin();
  void move_to_front();
  void forget_body();

  const std::uint32_t max_header_bytes_;
  const std::uint64_t max_body_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;   ///< of the request
  std::size_t parsed_ = 0;  ///< up to here
  std::size_t end_ = 0;     ///< of what was received
  State state_ = State::needs_more;
  unsigned refusal_ = 400;
  bool keeps_alive_ = true;
  bool is_http_1_0_ = false;
  bool has_header_ = false;
  bool wants_continue_ = false;
  Place method_, target_;
  std::vector<std::pair<Place, Place>> fields_;
  std::vector<std::pair<std::string_view, std::string_view>> views_;
  std::string body_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace guestlist::http
