// A filter in a file: written whole or not at all, opened in microseconds, asked without being
// read.

#include <cstdio>
#include <filesystem>
#include <string>

#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/filter/filter_file.hpp"
#include "guestlist/filter/filter_file_writer.hpp"

int main() {
  using namespace guestlist;
  const std::string path = std::filesystem::temp_directory_path() / "guestlist-example.gl";
  auto filter =
      BloomFilter::make(*FilterPlan::make(1'000, 0.001), KeyHasher::siphash(Secret::random()));
  if (!filter) return 1;
  for (const char* fruit : {"apple", "pear", "plum"}) filter->insert(fruit);
  if (const auto written = write_filter_file(path, *filter, {}); !written) {
    return std::fprintf(stderr, "%s\n", written.error().message().c_str()), 1;
  }

  const auto file = FilterFile::open(path);
  if (!file) return std::fprintf(stderr, "%s\n", file.error().message().c_str()), 1;
  for (const char* key : {"apple", "stone"}) {
    // absent is proven; unknown would mean that the file is damaged where the answer would come
    // from.
    std::printf("%s: %s\n", key,
                std::string(name(file->check(std::string_view(key)).answer)).c_str());
  }
  const bool right = !file->check(std::string_view("apple")).is_absent();
  std::filesystem::remove(path);
  return right ? 0 : 1;
}
