// Filter files: opening one of 1 GiB against reading it, the first touch of a section, and checks
// in a mapping. The file is sparse, so that it costs no disk; its pages are in the system's cache
// throughout.

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "filter_file_format.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/filter/filter_file.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// An empty filter of 1 GiB in a file that is gone at the end.
class SparseFile {
 public:
  SparseFile() {
    std::string name = (std::filesystem::temp_directory_path() / "guestlist-bench-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    FilterFileHeader header;
    header.shape = {Structure::bloom, 850'000'000, 0.01, {}};
    header.shape.layers = {{1, 0, gibibyte / 64, 0, 850'000'000, 0.01, 0, gibibyte}};
    header.secret = Secret();
    header.secret_fingerprint = Secret().fingerprint();
    filter_file::place_body(header);
    const std::vector<std::byte> zeros(filter_file::section_bytes);
    std::vector<std::byte> table(filter_file::section_count(gibibyte) *
                                 filter_file::checksum_bytes);
    for (std::size_t at = 0; at < table.size(); at += filter_file::checksum_bytes) {
      store_little_endian(&table[at], filter_file::checksum(zeros));
    }
    const auto front = filter_file::encode_header(header, filter_file::checksum(table));
    std::ofstream(path(), std::ios::binary) << as_text(front) << as_text(table);
    std::filesystem::resize_file(path(), header.body_offset + gibibyte);
    // Reading it once brings its pages into the system's cache.
    if (!FilterFile::open(path()).value().verify_all()) std::abort();
  }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  ~SparseFile() { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "1GiB.filter").string(); }

 private:
  std::filesystem::path folder_;
};

const SparseFile& sparse_file() {
  static const SparseFile file;
  return file;
}

void open_file(benchmark::State& state) {
  const std::string path = sparse_file().path();
  for ([[maybe_unused]] auto _ : state) {
    const auto file = FilterFile::open(path);
    if (!file) return state.SkipWithError(file.error().message().c_str());
    benchmark::DoNotOptimize(file->header().body_size);
  }
}
BENCHMARK(open_file)->Name("file/open/1GiB")->Unit(benchmark::kMicrosecond);

/// What opening costs where a filter has to be read first.
void read_file_whole(benchmark::State& state) {
  const std::string path = sparse_file().path();
  std::vector<char> buffer(1 << 20);
  for ([[maybe_unused]] auto _ : state) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    while (std::fread(buffer.data(), 1, buffer.size(), file) == buffer.size()) {
    }
    std::fclose(file);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(gibibyte));
}
BENCHMARK(read_file_whole)->Name("file/read/1GiB")->Unit(benchmark::kMicrosecond);

void verify_file(benchmark::State& state) {
  const std::string path = sparse_file().path();
  for ([[maybe_unused]] auto _ : state) {
    const auto file = FilterFile::open(path);
    if (!file || !file->verify_all()) return state.SkipWithError("the file does not hold");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(gibibyte));
}
BENCHMARK(verify_file)->Name("file/verify/1GiB")->Unit(benchmark::kMicrosecond);

/// Opens the file and takes one answer, so verifies one section.
void first_touch(benchmark::State& state) {
  const std::string path = sparse_file().path();
  std::uint64_t key = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto file = FilterFile::open(path);
    if (!file) return state.SkipWithError(file.error().message().c_str());
    benchmark::DoNotOptimize(file->check(KeyHash{key += 0x9E3779B97F4A7C15}));
  }
}
BENCHMARK(first_touch)->Name("file/open and first check/1GiB")->Unit(benchmark::kMicrosecond);

/// Checks in a mapping whose sections were all verified before, or (range 1) all but one.
void check_batch(benchmark::State& state) {
  const auto file = FilterFile::open(sparse_file().path());
  if (!file) return state.SkipWithError(file.error().message().c_str());
  if (state.range(0) == 0 && !file->verify_all())
    return state.SkipWithError("the file does not hold");
  std::vector<KeyHash> hashes(1 << 16);
  std::uint64_t key = 0;
  for (KeyHash& hash : hashes) hash.value = key += 0x9E3779B97F4A7C15;
  if (state.range(0) == 1) {
    // The keys of the last section go, and so it stays unverified.
    std::erase_if(hashes, [](KeyHash hash) { return hash.value >> 54 == 1023; });
  }
  std::vector<Verdict> verdicts(hashes.size());
  for ([[maybe_unused]] auto _ : state) {
    file->check_many(hashes, verdicts);
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(hashes.size()));
}
BENCHMARK(check_batch)->Name("file/check batch/1GiB/partly verified")->Arg(1);
BENCHMARK(check_batch)->Name("file/check batch/1GiB/verified")->Arg(0);

}  // namespace
}  // namespace guestlist
