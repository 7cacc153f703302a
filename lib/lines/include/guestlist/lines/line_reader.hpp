#pragma once

#include "guestlist/lines/key_reader.hpp"

namespace guestlist {

/// A key a line.
class LineReader final : public KeyReader {
 public:
  LineReader(BlockReader input, const InputOptions& options) noexcept
      : KeyReader(std::move(input)), crlf_(options.crlf), skip_blank_(options.skip_blank) {}

  Result<void> next(std::vector<std::string_view>& keys) override;

 private:
  void take(std::string_view line, std::vector<std::string_view>& keys) const;

  bool crlf_;
  bool skip_blank_;
  bool at_end_ = false;
};

}  // namespace guestlist
