#include "call.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

namespace guestlist {

void CallTable::finish(const CallResult& result) {
  if (result) {
    status_ = static_cast<int>(*result);
  } else {
    fmt::print(stderr, "guestlist: {}\n", result.error().message());
    status_ = static_cast<int>(Exit::error);
  }
  if (std::fflush(stdout) != 0 && result) {
    fmt::print(stderr, "guestlist: {}\n",
               errno_error(Errc::unwritable, "cannot write to standard output").message());
    status_ = static_cast<int>(Exit::error);
  }
}

void declare_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the result as one JSON object");
}

void declare_inputs(CLI::App& command, InputOptions& inputs) {
  command.add_option("INPUT", inputs.paths,
                     "Files with keys, a key a line; none or '-': standard input");
  command
      .add_option("--csv", inputs.csv_column,
                  "Take the keys from this column of CSV with a header row")
      ->type_name("COLUMN");
  command
      .add_option("--json-field", inputs.json_field,
                  "Take the keys from this field of JSON lines; '--json FIELD' does the same")
      ->type_name("FIELD");
  declare_crlf(command, inputs.crlf);
}

void declare_crlf(CLI::App& command, bool& crlf) {
  command.add_flag("--crlf", crlf, "Lines end with CR LF: the CR is not part of the key");
}

void declare_size(CLI::App& command, SizeOptions& size) {
  command.add_option("--items", size.items, "Planned number of keys")->type_name("N");
  command.add_option("--fpr", size.fpr, "False positive rate when that many are in")
      ->type_name("P")
      ->capture_default_str();
}

void declare_hash(CLI::App& command, HashOptions& hash) {
  command
      .add_option("--hash", hash.hash,
                  "siphash: keyed, for whatever is served; xxh3: faster, for offline work")
      ->check(CLI::IsMember({"siphash", "xxh3"}));
  declare_secret_file(command, hash.secret_file);
}

void declare_secret_file(CLI::App& command, std::string& secret_file) {
  command
      .add_option("--secret-file", secret_file,
                  "The filter's secret: 32 hexadecimal digits or 16 raw bytes")
      ->type_name("FILE");
}

void declare_key_type(CLI::App& command, std::string& key_type) {
  command
      .add_option("--key-type", key_type, "How keys are spelt: text, int, uuid, decimal or bytes")
      ->type_name("TYPE");
}

Result<KeyType> parse_key_type(const std::string& name) {
  const auto type = key_type_from_name(name);
  if (type) return *type;
  return fail(Errc::invalid_argument,
              fmt::format("--key-type '{}': it is one of text, int, uuid, decimal, bytes", name));
}

Result<void> check_is_file(const std::string& target) {
  const auto scheme = target.find("://");
  if (scheme == std::string::npos) return {};
  return fail(
      Errc::invalid_argument,
      fmt::format("'{}' is no file, and this call works on files; for filters in Redis there "
                  "are create, add, load, query, inspect and drop",
                  target));
}

void print_result(bool json, const boost::json::object& figures, const std::string& text) {
  if (json) {
    fmt::print("{}\n", boost::json::serialize(figures));
  } else {
    fmt::print("{}", text);
  }
}

}  // namespace guestlist
