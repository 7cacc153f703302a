#pragma once

// Any bytes as a snapshot, a dumped header and chunks of a Bloom filter. What is refused is refused
// with an error; what is accepted can be asked, added to and written, and is read again as it was.

#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/bloom_dump.hpp"
#include "core/bloom_rdb.hpp"
#include "snapshot_bytes.hpp"

namespace guestlist::server {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Corrects what checksums say, so that what lies behind them is reached.
class CorrectingReader final : public ValueReader {
 public:
  explicit CorrectingReader(ByteView bytes) : in_(bytes) {}

  std::uint64_t number() override {
    if (state_ == State::bits) {
      state_ = State::counts;
      return XXH3_64bits(bits_.data(), bits_.size());
    }
    return in_.number();
  }
  double real() override { return in_.real(); }
  ReadString string() override {
    ReadString text = in_.string();
    if (state_ == State::header) {
      header_ = std::string(as_text(text.bytes()));
      if (header_.size() >= 16) {
        std::memcpy(header_.data(), "GLBLOOM\1", 8);
        const std::uint64_t sum = XXH3_64bits(header_.data(), header_.size() - 8);
        std::memcpy(header_.data() + header_.size() - 8, &sum, sizeof sum);
      }
      state_ = State::bits;
      return {header_.data(), header_.size(), [](void*) {}};
    }
    if (state_ == State::counts) bits_.clear();
    state_ = State::bits;
    bits_ += as_text(text.bytes());
    return text;
  }
  bool has_failed() const override { return in_.has_failed(); }

 private:
  enum class State { header, bits, counts };

  SnapshotReader in_;
  State state_ = State::header;
  std::string header_;
  std::string bits_;
};

inline std::string snapshot_of(const BloomValue& value) {
  SnapshotWriter out;
  if (value.is_native()) {
    save_own_bloom(value, out);
  } else {
    save_classic_bloom(*value.classic(), out);
  }
  return out.text();
}

inline Result<BloomValue> from_snapshot(ByteView bytes, bool is_native, int encoding) {
  SnapshotReader in(bytes);
  return is_native ? load_own_bloom(in, encoding) : load_classic_bloom(in, encoding);
}

/// A filter may take so much in these tests, whatever a header asks for.
inline MemoryLimit small_limit() {
  MemoryLimit limit;
  limit.judge = [](void*, std::uint64_t held, std::uint64_t more) {
    constexpr std::uint64_t most = 1 << 20;
    return more <= most && held <= most - more ? MemoryLimit::Answer::yes
                                               : MemoryLimit::Answer::no_room;
  };
  return limit;
}

inline void use_filter(BloomValue value) {
  const std::string written = snapshot_of(value);
  auto again = from_snapshot(as_bytes(written), value.is_native(), value.is_native() ? 1 : 4);
  // Files of the oldest versions are written in the newest, which says more of them.
  if (again) require(snapshot_of(*again) == written);
  require(again.has_value() || !value.is_native());
  value.visit([](auto& chain) {
    std::array<std::string_view, 3> items = {"", "a", "some longer item of a filter"};
    std::array<Added, 3> outcomes;
    const std::size_t done = chain.add_some(items, outcomes.data(), small_limit());
    std::array<bool, 3> found;
    chain.may_contain_many(items, found.data());
    for (std::size_t i = 0; i < done; ++i) {
      require(found[i] == chain.may_contain(items[i]));
      if (outcomes[i] == Added::added || outcomes[i] == Added::seen) require(found[i]);
    }
  });
  require(bloom_from_header(as_bytes(bloom_header(value)), {}).has_value());
  std::uint64_t seen = 0;
  for (Chunk chunk = bloom_chunk(value, 1); chunk.next != 0; chunk = bloom_chunk(value, chunk.next))
    seen += chunk.bytes.size();
  require(seen == value.visit([](const auto& chain) { return chain.size_bytes(); }));
}

/// The first byte says what the others are taken for.
inline void try_as_bloom(ByteView input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned>(input.front());
  const ByteView bytes = input.subspan(1);
  switch (choice % 4) {
    case 0:
      if (auto value = from_snapshot(bytes, false, static_cast<int>(choice / 4 % 6)))
        use_filter(*std::move(value));
      break;
    case 1:
      if (auto value = from_snapshot(bytes, true, static_cast<int>(choice / 4 % 3)))
        use_filter(*std::move(value));
      break;
    case 2: {
      CorrectingReader in(bytes);
      if (auto value = load_own_bloom(in, own_bloom_encoding)) use_filter(*std::move(value));
      break;
    }
    default: {
      ByteReader in(bytes);
      const ByteView header = in.take(std::min<std::size_t>(in.get<std::uint16_t>(), in.left()));
      auto value = bloom_from_header(header, small_limit());
      if (!value) break;
      while (in.left() > 0) {
        const auto iterator = static_cast<std::int64_t>(in.get<std::uint64_t>());
        const ByteView chunk = in.take(std::min<std::size_t>(in.get<std::uint16_t>(), in.left()));
        load_bloom_chunk(*value, iterator, chunk);
      }
      use_filter(*std::move(value));
    }
  }
}

}  // namespace guestlist::server
