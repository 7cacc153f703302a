#include "argument_keys.hpp"

#include <fmt/format.h>

namespace guestlist {
namespace {

class ArgumentReader final : public KeyReader {
 public:
  ArgumentReader(BlockReader input, const std::vector<std::string>& keys)
      : KeyReader(std::move(input)), keys_(keys) {}

  Result<void> next(std::vector<std::string_view>& keys) override {
    keys.assign(keys_.begin() + static_cast<std::ptrdiff_t>(given_), keys_.end());
    given_ = keys_.size();
    return {};
  }

 private:
  const std::vector<std::string>& keys_;
  std::size_t given_ = 0;
};

}  // namespace

void declare_key_arguments(CLI::App& command, KeyArguments& arguments) {
  command.add_option("TARGET", arguments.target, "A filter file, or a filter in Redis")->required();
  command.add_option("KEY", arguments.keys, "Keys; none or '-': standard input, a key a line");
  declare_crlf(command, arguments.crlf);
  declare_key_type(command, arguments.key_type);
  declare_secret_file(command, arguments.secret_file);
  declare_format(command, arguments.format, false);
  declare_json(command, arguments.json);
}

Result<std::unique_ptr<KeyReader>> read_argument_keys(const std::vector<std::string>& keys,
                                                      bool crlf) {
  InputOptions standard_input;
  standard_input.crlf = crlf;
  if (keys.empty() || (keys.size() == 1 && keys.front() == "-"))
    return KeyReader::open(standard_input);
  auto input = BlockReader::open({});
  if (!input) return fail(std::move(input).error());
  return std::unique_ptr<KeyReader>(new ArgumentReader(std::move(*input), keys));
}

Result<KeyType> agreed_key_type(const std::string& option, const std::string& of_file) {
  const auto stored = key_type_from_name(of_file);
  if (!stored) {
    return fail(
        Errc::newer_version,
        fmt::format("the filter's keys are of type '{}', which this build does not know", of_file));
  }
  if (option.empty()) return *stored;
  const auto asked = parse_key_type(option);
  if (!asked) return fail(asked.error());
  if (*asked == *stored) return *stored;
  return fail(
      Errc::mismatched,
      fmt::format("--key-type {}: the filter was built with keys of type {}", option, of_file));
}

}  // namespace guestlist
