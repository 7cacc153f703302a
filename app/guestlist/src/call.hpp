#pragma once

// What all calls of the command share: options by one name, results as JSON or text, errors as one
// line.

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/lines/key_reader.hpp"

namespace guestlist {

/// Exit statuses, as grep has them.
enum class Exit : int { success = 0, some_absent = 1, error = 2 };

/// What a call gives back: its status, or the error that the user reads.
using CallResult = Result<Exit>;

/// Runs a call when its subcommand was named, and prints its error.
class CallTable {
 public:
  explicit CallTable(CLI::App& app) : app_(app) {}

  /// `Options` is filled from the command line and handed to `run`.
  template <class Options>
  CLI::App* add(const std::string& name, const std::string& description,
                std::function<void(CLI::App&, Options&)> declare,
                std::function<CallResult(const Options&)> run) {
    const auto options = std::make_shared<Options>();
    CLI::App* const command = app_.add_subcommand(name, description);
    declare(*command, *options);
    command->callback([this, options, run] { finish(run(*options)); });
    return command;
  }

  int status() const noexcept { return status_; }

 private:
  void finish(const CallResult& result);

  CLI::App& app_;
  int status_ = 0;
};

struct SizeOptions {
  std::string items;
  std::string fpr = "0.01";
};

struct HashOptions {
  std::string hash;
  std::string secret_file;
};

void declare_json(CLI::App& command, bool& json);
void declare_inputs(CLI::App& command, InputOptions& inputs);
void declare_crlf(CLI::App& command, bool& crlf);
void declare_size(CLI::App& command, SizeOptions& size);
void declare_hash(CLI::App& command, HashOptions& hash);
void declare_secret_file(CLI::App& command, std::string& secret_file);
void declare_key_type(CLI::App& command, std::string& key_type);

/// Errors: `invalid_argument` with the names there are.
Result<KeyType> parse_key_type(const std::string& name);

/// Refuses what is not a file, for calls that read or write files only.
Result<void> check_is_file(const std::string& target);

/// `--json` prints the object on one line; else `text` is printed.
void print_result(bool json, const boost::json::object& figures, const std::string& text);

}  // namespace guestlist
