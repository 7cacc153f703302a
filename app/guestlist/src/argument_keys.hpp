#pragma once

// Keys that stand on the command line itself, or come from standard input in their place.

#include <memory>
#include <string>
#include <vector>

#include "call.hpp"
#include "guava_target.hpp"
#include "guestlist/hash/key_type.hpp"
#include "guestlist/lines/key_reader.hpp"

namespace guestlist {

/// What `add` and `query` are told: a filter, and keys.
struct KeyArguments {
  std::string target;
  std::vector<std::string> keys;
  bool crlf = false;
  std::string secret_file;
  FormatOptions format;
  std::string key_type;
  bool json = false;
};

void declare_key_arguments(CLI::App& command, KeyArguments& arguments);

/// A reader over `keys`, as they are; over the lines of standard input where there are none, or the
/// only one is
/// `-`.
Result<std::unique_ptr<KeyReader>> read_argument_keys(const std::vector<std::string>& keys,
                                                      bool crlf);

/// The key type of a filter file, which `--key-type` may repeat but not change.
/// Errors: `mismatched`, `invalid_argument`.
Result<KeyType> agreed_key_type(const std::string& option, const std::string& of_file);

}  // namespace guestlist
