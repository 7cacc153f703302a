// Opens arbitrary bytes as a filter file and asks for everything that a reader can ask. Each input
// is tried as it is, and once more as header and body of a file whose checksums hold, so that what
// lies behind them is reached too. The seeds are such inputs: the golden files of test/data without
// padding, table and checksum.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "filter_file_format.hpp"
#include "guestlist/filter/filter_file.hpp"

namespace {

using namespace guestlist;

/// Larger than any seed; what lies behind is cut off.
constexpr std::size_t max_bytes = 1 << 16;

/// A copy whose alignment is that of a mapping, and whose end the sanitizer guards.
struct Aligned {
  struct Delete {
    void operator()(std::byte* start) const { ::operator delete[](start, std::align_val_t{4096}); }
  };
  explicit Aligned(ByteView from)
      : size(from.size()),
        memory(static_cast<std::byte*>(::operator new[](from.size(), std::align_val_t{4096}))) {
    std::ranges::copy(from, memory.get());
  }
  ByteView bytes() const { return {memory.get(), size}; }

  std::size_t size;
  std::unique_ptr<std::byte[], Delete> memory;
};

/// The file whose header, up to its texts, is the front of `input`, and whose body is the rest:
/// what a writer would have made of them. Nothing where the input is shorter than that header.
std::vector<std::byte> assemble(ByteView input) {
  using namespace filter_file;
  if (input.size() < fixed_bytes) return {};
  const auto length = [&](std::size_t at) { return load_little_endian<std::uint16_t>(&input[at]); };
  const std::size_t layers = length(104);
  const std::size_t described =
      fixed_bytes + layers * layer_bytes + length(106) + length(108) + length(110);
  if (layers == 0 || described > input.size()) return {};
  const ByteView body = input.subspan(described);
  const std::size_t header = align_up(described, 8) + checksum_bytes;
  const std::size_t table = section_count(body.size()) * checksum_bytes;
  const std::size_t body_offset = align_up(header + table, body_alignment);

  std::vector<std::byte> file(body_offset + body.size());
  std::ranges::copy(input.first(described), file.begin());
  std::ranges::copy(body, file.begin() + static_cast<std::ptrdiff_t>(body_offset));
  for (std::uint64_t i = 0; i < section_count(body.size()); ++i) {
    const ByteView section = body.subspan(i * section_bytes);
    store_little_endian(&file[header + i * checksum_bytes],
                        checksum(section.first(std::min(section.size(), section_bytes))));
  }
  std::ranges::copy(as_bytes(magic), file.begin());
  store_little_endian(&file[12], static_cast<std::uint32_t>(header));
  store_little_endian<std::uint64_t>(&file[16], body_offset);
  store_little_endian<std::uint64_t>(&file[24], body.size());
  store_little_endian(&file[32], checksum(ByteView(file).subspan(header, table)));
  // The body is as long as one layer says; of several layers the sizes are left to chance.
  if (layers == 1) store_little_endian<std::uint64_t>(&file[fixed_bytes + 48], body.size());
  store_little_endian(&file[header - checksum_bytes],
                      checksum(ByteView(file).first(header - checksum_bytes)));
  return file;
}

void ask_everything(const Aligned& bytes) {
  for (const std::optional<Secret>& secret : {std::optional<Secret>(), std::optional(Secret())}) {
    const auto file = FilterFile::from_bytes(bytes.bytes(), nullptr, "fuzz", secret);
    if (!file) continue;
    std::array<KeyHash, 100> hashes;
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = file->hasher()(std::to_string(i));
    std::array<Verdict, hashes.size()> verdicts;
    file->check_many(hashes, verdicts);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (file->check(hashes[i]) != verdicts[i]) std::abort();
    }
    if (const auto filter = file->verified()) {
      (void)(*filter)->fill();
      (void)(*filter)->approximate_count();
      (void)(*filter)->fpr_now();
    }
    auto loaded = file->load();
    if (!loaded) continue;
    (void)loaded->insert_many(hashes);
    (void)loaded->merge(*loaded);
    loaded->clear();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, std::min(size, max_bytes)));
  ask_everything(Aligned(input));
  ask_everything(Aligned(assemble(input)));
  return 0;
}
