#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "guestlist/lines/key_reader.hpp"

namespace guestlist {
namespace {

/// The keys of `text` when it comes in blocks of `block` bytes; nothing where it is refused.
std::optional<std::vector<std::string>> keys_of(const std::string& text, InputOptions options,
                                                std::size_t block) {
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  EXPECT_EQ(static_cast<ssize_t>(text.size()), ::write(descriptor, text.data(), text.size()));
  options.paths = {"/proc/self/fd/" + std::to_string(descriptor)};
  auto reader = KeyReader::open(options, block);
  EXPECT_TRUE(reader);
  std::vector<std::string> all;
  std::vector<std::string_view> keys;
  bool refused = false;
  while (!refused) {
    refused = !(*reader)->next(keys);
    if (keys.empty()) break;
    all.insert(all.end(), keys.begin(), keys.end());
  }
  ::close(descriptor);
  if (refused) return std::nullopt;
  return all;
}

RC_GTEST_PROP(LineReader, GivesTheSameLinesWhateverTheBlocks, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n', '\r'));
  std::vector<std::string> expected;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    expected.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  InputOptions options;
  options.skip_blank = false;
  for (const std::size_t block : {1, 2, 3, 7, 4096}) {
    RC_ASSERT(keys_of(text, options, block) == expected);
  }
}

RC_GTEST_PROP(CsvReader, ReadsBackWhatWasQuoted, (const std::vector<std::string>& values)) {
  std::string text = "n,value\r\n";
  std::vector<std::string> expected;
  for (std::string value : values) {
    std::erase(value, '\0');
    if (value.empty()) continue;
    expected.push_back(value);
    std::string quoted;
    for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += "1,\"" + quoted + "\"\r\n";
  }
  InputOptions options;
  options.csv_column = "value";
  for (const std::size_t block : {1, 3, 4096}) RC_ASSERT(keys_of(text, options, block) == expected);
}

TEST(CsvReader, TakesAColumnByNumberAndPlainFieldsAsTheyAre) {
  InputOptions options;
  options.csv_column = "2";
  EXPECT_EQ((std::vector<std::string>{"x y", " z"}), keys_of("a,b\n1,x y\n2, z", options, 4096));
}

TEST(CsvReader, RefusesRaggedRowsAndStrayQuotes) {
  InputOptions options;
  options.csv_column = "a";
  EXPECT_FALSE(keys_of("a,b\n1\n", options, 4096));
  EXPECT_FALSE(keys_of("a,b\n1,2,3\n", options, 4096));
  EXPECT_FALSE(keys_of("a,b\n\"1\"x,2\n", options, 4096));
  EXPECT_FALSE(keys_of("a,b\n\"1,2\n", options, 4096));
  EXPECT_FALSE(keys_of("", options, 4096));
}

TEST(JsonReader, GivesStringsAndNumbersAndRefusesTheRest) {
  InputOptions options;
  options.json_field = "k";
  EXPECT_EQ(
      (std::vector<std::string>{"a\n\xC3\xA9", "1", "-2", "18446744073709551615"}),
      keys_of("{\"k\":\"a\\n\\u00e9\"}\n{\"k\":1}\n\n{\"k\":-2}\n{\"k\":18446744073709551615}",
              options, 5));
  for (const char* bad :
       {"{\"k\":null}", "{\"k\":1.50}", "{\"k\":18446744073709551616}", "{\"k\":1e3}",
        "{\"k\":[1]}", "{\"j\":1}", "[1]", "1", "{\"k\":1} x", "{"}) {
    EXPECT_FALSE(keys_of(bad, options, 4096)) << bad;
  }
}

TEST(JsonReader, ReachesIntoObjectsByDots) {
  InputOptions options;
  options.json_field = "a.b";
  EXPECT_EQ((std::vector<std::string>{"1", "2"}),
            keys_of("{\"a\":{\"b\":1}}\n{\"a.b\":2}\n", options, 4096));
}

}  // namespace
}  // namespace guestlist
