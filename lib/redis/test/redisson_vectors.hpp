#pragma once

// Reads test/data/redisson.txt. See PROVENANCE.md there for the lines and their fields.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "guestlist/base/bytes.hpp"
#include "guestlist/redis/redisson_codec.hpp"

namespace guestlist {

using Fields = std::vector<std::string>;

inline std::vector<Fields> lines_of(const std::string& file_name) {
  std::vector<Fields> lines;
  std::ifstream file(GUESTLIST_TEST_DATA "/" + file_name);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
  }
  EXPECT_FALSE(lines.empty()) << file_name;
  return lines;
}

inline std::vector<Fields> redisson_lines(const std::string& kind) {
  std::vector<Fields> lines = lines_of("redisson.txt");
  std::erase_if(lines, [&kind](const Fields& line) { return line[0] != kind; });
  EXPECT_FALSE(lines.empty()) << kind;
  return lines;
}

inline std::string bytes_of_hex(const std::string& hex) {
  return hex == "-" ? std::string() : std::string(as_text(*from_hex(hex)));
}

/// The key in fields `type` and `key` of a line.
inline JavaValue java_value_of(const std::string& type, const std::string& key) {
  if (type == "long") return static_cast<std::int64_t>(std::stoll(key));
  if (type == "int") return static_cast<std::int32_t>(std::stol(key));
  const std::string bytes = bytes_of_hex(key);
  std::u16string units;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    units += static_cast<char16_t>(load_big_endian<std::uint16_t>(bytes.data() + at));
  }
  return units;
}

inline std::vector<std::uint64_t> numbers_of(const std::string& list) {
  std::vector<std::uint64_t> numbers;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stoull(word));
  return numbers;
}

}  // namespace guestlist
