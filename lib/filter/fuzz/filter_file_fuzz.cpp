// Opens arbitrary bytes as a filter file and asks for everything that a reader can ask. Each input
// is tried as it is and once more with its checksums made right, so that damage behind them is
// reached too.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "filter_file_format.hpp"
#include "guestlist/filter/filter_file.hpp"

namespace {

using namespace guestlist;

/// Larger than any seed; what lies behind is cut off.
constexpr std::size_t max_bytes = 1 << 16;

/// A copy whose alignment is that of a mapping, and whose end the sanitizer guards.
struct Aligned {
  struct Delete {
    void operator()(std::byte* start) const {
      ::operator delete[](start, std::align_val_t{4096});
    }
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

/// Makes every checksum right, as far as the header leads to them.
void seal(Aligned& file) {
  using namespace filter_file;
  if (file.size < fixed_bytes) return;
  std::byte* const start = file.memory.get();
  std::memcpy(start, magic.data(), magic.size());
  const std::size_t header = load_little_endian<std::uint32_t>(start + 12);
  const auto body_offset = load_little_endian<std::uint64_t>(start + 16);
  const auto body_size = load_little_endian<std::uint64_t>(start + 24);
  if (header < fixed_bytes + checksum_bytes || header > file.size) return;
  const std::size_t table = section_count(body_size) * checksum_bytes;
  if (body_offset <= file.size && body_size == file.size - body_offset &&
      header + table <= body_offset) {
    for (std::uint64_t i = 0; i < section_count(body_size); ++i) {
      const auto begin = body_offset + i * section_bytes;
      const auto section = file.bytes().subspan(begin, std::min(section_bytes, file.size - begin));
      store_little_endian(start + header + i * checksum_bytes, checksum(section));
    }
    store_little_endian(start + 32, checksum(file.bytes().subspan(header, table)));
  }
  store_little_endian(start + header - checksum_bytes,
                      checksum(file.bytes().first(header - checksum_bytes)));
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
  Aligned file(std::as_bytes(std::span(data, std::min(size, max_bytes))));
  ask_everything(file);
  seal(file);
  ask_everything(file);
  return 0;
}
