#include "key_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "guestlist/hash/composite_key.hpp"

namespace guestlist::postgres {
namespace {

using Kind = PgOutput::Kind;

// Ids of transactions begin at 3.
constexpr std::uint32_t no_transaction = 0;

}  // namespace

KeyChanges::KeyChanges(Table table, std::string heartbeat, std::uint64_t from)
    : table_(std::move(table)), heartbeat_(std::move(heartbeat)), position_(from) {}

void KeyChanges::begin(Changes& changes) noexcept {
  used_ = 0;
  bytes_ = 0;
  changes.removed = 0;
}

void KeyChanges::end(Changes& changes) const {
  changes.keys.resize(used_);
}

void KeyChanges::reach(std::uint64_t lsn) noexcept {
  if (!is_in_transaction()) position_ = std::max(position_, lsn);
}

Result<void> KeyChanges::take(const PgOutput::Message& message, Changes& changes) {
  return std::visit([&](const auto& known) { return on(known, changes); }, message);
}

Result<void> KeyChanges::on(const PgOutput::Begin& begin, Changes&) {
  if (is_in_transaction() || begin.transaction == no_transaction)
    return fail(Errc::not_found, "PostgreSQL began a transaction within another");
  transaction_ = begin.transaction;
  has_keys_ = false;
  return {};
}

Result<void> KeyChanges::on(const PgOutput::Commit& commit, Changes&) {
  if (!is_in_transaction())
    return fail(Errc::not_found, "PostgreSQL ended a transaction that it did not begin");
  transaction_ = no_transaction;
  has_keys_ = false;
  reach(commit.end_lsn);
  return {};
}

Result<void> KeyChanges::on(const PgOutput::Relation& relation, Changes&) {
  if (relation.id != table_.id) return {};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    const auto found = std::ranges::find(relation.columns, table_.columns[i].name(),
                                         [](const auto& column) { return column.name; });
    if (found == relation.columns.end()) {
      return fail(Errc::not_found, fmt::format("the column '{}' is no longer among those that are "
                                               "published",
                                               table_.columns[i].name()));
    }
    if (found->type != table_.type_ids[i]) {
      return fail(Errc::not_found,
                  fmt::format("the column '{}' has another type now", table_.columns[i].name()));
    }
    places.push_back(static_cast<std::size_t>(found - relation.columns.begin()));
  }
  places_ = std::move(places);
  ++descriptions_;
  return {};
}

Result<void> KeyChanges::on(const PgOutput::Insert& insert, Changes& changes) {
  if (insert.relation != table_.id) return {};
  return add(insert.row, {}, changes);
}

Result<void> KeyChanges::on(const PgOutput::Update& update, Changes& changes) {
  if (update.relation != table_.id) return {};
  // An old row comes where the identity changed, and always where it is FULL.
  if (!update.old.empty()) ++changes.removed;
  return add(update.row, update.old, changes);
}

Result<void> KeyChanges::on(const PgOutput::Delete& gone, Changes& changes) {
  if (gone.relation == table_.id) ++changes.removed;
  return {};
}

Result<void> KeyChanges::on(const PgOutput::Truncate& truncate, Changes& changes) {
  if (std::ranges::find(truncate.relations, table_.id) != truncate.relations.end())
    changes.removed += std::max<std::uint64_t>(1, row_estimate_);
  return {};
}

Result<void> KeyChanges::on(const PgOutput::Note& note, Changes&) {
  if (note.prefix == heartbeat_) {
    std::from_chars(note.content.data(), note.content.data() + note.content.size(),
                    last_heartbeat_);
  }
  return {};
}

Result<void> KeyChanges::add(PgOutput::Row row, PgOutput::Row old, Changes& changes) {
  if (places_.empty())
    return fail(Errc::not_found, "PostgreSQL sent a row of a table that it did not describe");
  parts_.resize(places_.size());
  std::size_t unchanged = 0;
  if (used_ == changes.keys.size()) changes.keys.emplace_back();
  std::string& key = changes.keys[used_];
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] >= row.size())
      return fail(Errc::not_found, "PostgreSQL sent a row that is shorter than it should be");
    const PgOutput::Field* field = &row[places_[i]];
    if (field->kind == Kind::unchanged) {
      ++unchanged;
      if (places_[i] < old.size() && old[places_[i]].kind == Kind::text) field = &old[places_[i]];
      if (field->kind == Kind::unchanged) continue;
    }
    // A row in which a key column is NULL has no key.
    if (field->kind == Kind::null) return {};
    const auto canonical = table_.columns[i].canonical(field->value, buffer_);
    if (field->kind != Kind::text || !canonical) {
      return fail(Errc::not_found,
                  fmt::format("a value of column '{}' is no '{}'", table_.columns[i].name(),
                              name(table_.columns[i].type())));
    }
    (places_.size() == 1 ? key : parts_[i]).assign(*canonical);
  }
  // The key is the one that the row had, and it came when it got it.
  if (unchanged == places_.size()) return {};
  for (std::size_t i = 0; unchanged > 0 && i < places_.size(); ++i) {
    const bool is_known = row[places_[i]].kind != Kind::unchanged ||
                          (places_[i] < old.size() && old[places_[i]].kind == Kind::text);
    if (!is_known) {
      return fail(Errc::not_found,
                  fmt::format("a row's key changed and PostgreSQL did not send its column '{}'",
                              table_.columns[i].name()));
    }
  }
  if (places_.size() > 1) key = join_key(parts_);
  bytes_ += key.size();
  ++used_;
  has_keys_ = true;
  return {};
}

}  // namespace guestlist::postgres
