#pragma once

// Reads test/data/redisbloom.txt. See PROVENANCE.md there.

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "guestlist/base/bytes.hpp"
#include "wire.hpp"

namespace guestlist::server {

inline std::string bytes_of(const std::string& hex) {
  return std::string(as_text(*from_hex(hex)));
}

struct CapturedFilter {
  Words reserve;
  std::size_t added = 0;
  std::string add_replies;  ///< `-` where none were kept
  std::size_t deleted_step = 0;
  std::string delete_replies;
  long long cardinality = -1;
  std::map<std::string, std::string> info;
  std::vector<std::size_t> probe_ones;
  std::string dump;
  std::vector<std::pair<std::string, std::string>> chunks;  ///< iterator and bytes

  const std::string& key() const { return reserve[1]; }
  bool is_cuckoo() const { return reserve[0] == "CF.RESERVE"; }
  std::string item(std::size_t index) const { return key() + ":" + std::to_string(index); }
};

inline std::vector<CapturedFilter> captured_filters() {
  std::vector<CapturedFilter> filters;
  std::ifstream file(GUESTLIST_TEST_DATA "/redisbloom.txt");
  for (std::string line; std::getline(file, line);) {
    const Words words = words_of(line);
    if (words[0] == "reserve") {
      filters.emplace_back().reserve = Words(words.begin() + 1, words.end());
      continue;
    }
    CapturedFilter& filter = filters.back();
    if (words[0] == "added") {
      filter.added = std::stoull(words[1]);
      filter.add_replies = words[2];
    } else if (words[0] == "deleted") {
      filter.deleted_step = std::stoull(words[1]);
      filter.delete_replies = words[2];
    } else if (words[0] == "card") {
      filter.cardinality = std::stoll(words[1]);
    } else if (words[0] == "info") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        filter.info[words[i].substr(0, equals)] = words[i].substr(equals + 1);
      }
    } else if (words[0] == "probe_ones" && words[1] != "-") {
      std::istringstream numbers(words[1]);
      for (std::string number; std::getline(numbers, number, ',');)
        filter.probe_ones.push_back(std::stoull(number));
    } else if (words[0] == "dump") {
      filter.dump = bytes_of(words[1]);
    } else if (words[0] == "chunk") {
      filter.chunks.emplace_back(words[1], bytes_of(words[2]));
    }
  }
  return filters;
}

}  // namespace guestlist::server
