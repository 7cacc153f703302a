#include "guestlist/lines/key_reader.hpp"

#include "guestlist/lines/csv_reader.hpp"
#include "guestlist/lines/json_reader.hpp"
#include "guestlist/lines/line_reader.hpp"

namespace guestlist {

Result<std::unique_ptr<KeyReader>> KeyReader::open(const InputOptions& options, std::size_t block) {
  if (!options.csv_column.empty() && !options.json_field.empty()) {
    return fail(Errc::invalid_argument,
                "the input is either CSV or JSON lines: give --csv or --json-field, not both");
  }
  auto input = BlockReader::open(options.paths, block);
  if (!input) return fail(std::move(input).error());
  std::unique_ptr<KeyReader> reader;
  if (!options.csv_column.empty()) {
    reader = std::make_unique<CsvReader>(std::move(*input), options.csv_column);
  } else if (!options.json_field.empty()) {
    reader = std::make_unique<JsonReader>(std::move(*input), options.json_field);
  } else {
    reader = std::make_unique<LineReader>(std::move(*input), options);
  }
  return reader;
}

}  // namespace guestlist
