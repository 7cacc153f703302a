// Any bytes are a message of pgoutput or none, and what a message shows lies within the bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pg_output.hpp"

namespace {

using guestlist::postgres::PgOutput;

std::string_view all_bytes;

void expect_within(std::string_view part) {
  const bool is_empty = part.data() == nullptr;
  if (!is_empty && (part.data() < all_bytes.data() ||
                    part.data() + part.size() > all_bytes.data() + all_bytes.size()))
    std::abort();
}

void expect_within(PgOutput::Row row) {
  for (const auto& field : row) expect_within(field.value);
}

struct Within {
  void operator()(const PgOutput::Relation& relation) const {
    expect_within(relation.schema);
    expect_within(relation.name);
    for (const auto& column : relation.columns) expect_within(column.name);
  }
  void operator()(const PgOutput::Insert& insert) const { expect_within(insert.row); }
  void operator()(const PgOutput::Update& update) const {
    expect_within(update.old);
    expect_within(update.row);
  }
  void operator()(const PgOutput::Delete& gone) const { expect_within(gone.old); }
  void operator()(const PgOutput::Note& note) const {
    expect_within(note.prefix);
    expect_within(note.content);
  }
  void operator()(const PgOutput::Origin& origin) const { expect_within(origin.name); }
  void operator()(const PgOutput::Type& type) const { expect_within(type.name); }
  void operator()(const auto&) const {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  all_bytes = {reinterpret_cast<const char*>(data), size};
  PgOutput parser;
  if (const auto message = parser.parse(all_bytes)) std::visit(Within{}, *message);
  return 0;
}
