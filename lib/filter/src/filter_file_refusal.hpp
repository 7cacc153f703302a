#pragma once

// Why a filter file is refused. Every sentence names the file, what is wrong with it and what to
// do.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::filter_file {

class Refusal {
 public:
  explicit Refusal(std::string name) : name_(std::move(name)) {}

  /// Says also what the file looks like, where that is plain from its first bytes.
  tl::unexpected<Error> foreign(ByteView file) const;
  tl::unexpected<Error> truncated(std::uint64_t size, std::uint64_t expected) const;
  tl::unexpected<Error> corrupt(std::string_view what) const;
  tl::unexpected<Error> newer(std::string_view what) const;

 private:
  std::string name_;
};

}  // namespace guestlist::filter_file
