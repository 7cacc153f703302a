#include "pg_output.hpp"

#include <algorithm>

#include "guestlist/base/bytes.hpp"

namespace guestlist::postgres {

/// Reads from the front. Once something was not there, nothing is, and `is_good` stays false.
class PgOutput::Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    const std::string_view bytes = take(sizeof(T));
    return bytes.size() == sizeof(T) ? load_big_endian<T>(bytes.data()) : T{0};
  }
  char letter() { return static_cast<char>(number<std::uint8_t>()); }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      is_good_ = false;
      rest_ = {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Up to a zero byte, which is skipped.
  std::string_view text() {
    const std::string_view taken = take(std::min(rest_.find('\0'), rest_.size()));
    take(1);
    return taken;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && rest_.empty(); }

  /// A row of any number of fields; false where it is none.
  bool row(std::vector<Field>& fields) {
    fields.clear();
    for (auto left = number<std::uint16_t>(); left > 0 && is_good_; --left) {
      switch (letter()) {
        case 'n':
          fields.push_back({Kind::null});
          break;
        case 'u':
          fields.push_back({Kind::unchanged});
          break;
        case 't':
          fields.push_back({Kind::text, take(number<std::uint32_t>())});
          break;
        case 'b':
          fields.push_back({Kind::binary, take(number<std::uint32_t>())});
          break;
        default:
          is_good_ = false;
      }
    }
    return is_good_;
  }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

std::optional<PgOutput::Message> PgOutput::parse(std::string_view bytes) {
  Cursor cursor(bytes);
  auto message = read(cursor);
  if (!cursor.is_at_end()) return std::nullopt;
  return message;
}

std::optional<PgOutput::Message> PgOutput::read(Cursor& bytes) {
  // Braces evaluate their elements from left to right.
  switch (bytes.letter()) {
    case 'B': {
      const auto final_lsn = bytes.number<std::uint64_t>();
      bytes.take(sizeof(std::int64_t));
      return Begin{final_lsn, bytes.number<std::uint32_t>()};
    }
    case 'C': {
      bytes.take(1);
      const Commit commit{bytes.number<std::uint64_t>(), bytes.number<std::uint64_t>()};
      bytes.take(sizeof(std::int64_t));
      return commit;
    }
    case 'O': {
      bytes.take(sizeof(std::uint64_t));
      return Origin{bytes.text()};
    }
    case 'R':
      return read_relation(bytes);
    case 'Y': {
      const auto id = bytes.number<std::uint32_t>();
      bytes.text();
      return Type{id, bytes.text()};
    }
    case 'I': {
      const auto relation = bytes.number<std::uint32_t>();
      if (bytes.letter() != 'N' || !bytes.row(new_)) return std::nullopt;
      return Insert{relation, new_};
    }
    case 'U':
      return read_update(bytes);
    case 'D': {
      const auto relation = bytes.number<std::uint32_t>();
      const char which = bytes.letter();
      if ((which != 'K' && which != 'O') || !bytes.row(old_)) return std::nullopt;
      return Delete{relation, old_};
    }
    case 'T':
      return read_truncate(bytes);
    case 'M': {
      const bool is_transactional = bytes.letter() != 0;
      const auto lsn = bytes.number<std::uint64_t>();
      const std::string_view prefix = bytes.text();
      return Note{is_transactional, lsn, prefix, bytes.take(bytes.number<std::uint32_t>())};
    }
    default:
      return std::nullopt;
  }
}

std::optional<PgOutput::Message> PgOutput::read_relation(Cursor& bytes) {
  Relation relation{bytes.number<std::uint32_t>(), bytes.text(), bytes.text(), bytes.letter(), {}};
  columns_.clear();
  for (auto left = bytes.number<std::uint16_t>(); left > 0 && bytes.is_good(); --left) {
    constexpr char of_identity = 1;
    const bool is_of_identity = (bytes.letter() & of_identity) != 0;
    const std::string_view name = bytes.text();
    columns_.push_back({is_of_identity, name, bytes.number<std::uint32_t>()});
    bytes.take(sizeof(std::int32_t));
  }
  relation.columns = columns_;
  return relation;
}

std::optional<PgOutput::Message> PgOutput::read_update(Cursor& bytes) {
  const auto relation = bytes.number<std::uint32_t>();
  old_.clear();
  char which = bytes.letter();
  if (which == 'K' || which == 'O') {
    if (!bytes.row(old_)) return std::nullopt;
    which = bytes.letter();
  }
  if (which != 'N' || !bytes.row(new_)) return std::nullopt;
  return Update{relation, old_, new_};
}

std::optional<PgOutput::Message> PgOutput::read_truncate(Cursor& bytes) {
  relations_.clear();
  auto left = bytes.number<std::uint32_t>();
  bytes.take(1);
  for (; left > 0 && bytes.is_good(); --left) relations_.push_back(bytes.number<std::uint32_t>());
  return Truncate{relations_};
}

}  // namespace guestlist::postgres
