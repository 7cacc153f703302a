#include "guestlist/filter/filter_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "filter_file_format.hpp"
#include "filter_file_refusal.hpp"
#include "guestlist/base/file.hpp"
#include "section_checks.hpp"

namespace guestlist {
namespace {

/// Keys that are verified, then tested, before the next: enough to keep the memory busy, few enough
/// for the stack.
constexpr std::size_t batch_keys = 4096;

Result<KeyHasher> make_hasher(const FilterFileHeader& header, const std::optional<Secret>& given,
                              const std::string& path) {
  if (header.hash == HashKind::xxh64) return KeyHasher::xxh64();
  if (given && given->fingerprint() != header.secret_fingerprint) {
    return fail(
        Errc::mismatched,
        fmt::format("'{}' was built with another secret than the one given; give the one it was "
                    "built with by --secret-file",
                    path));
  }
  if (!given && !header.secret) {
    return fail(
        Errc::mismatched,
        fmt::format(
            "'{}' does not hold its secret; give the one it was built with by --secret-file",
            path));
  }
  const Secret secret = given ? *given : *header.secret;
  return header.hash == HashKind::siphash ? KeyHasher::siphash(secret) : KeyHasher::xxh3(secret);
}

std::vector<Storage> view_layers(const FilterShape& shape, ByteView body,
                                 const std::shared_ptr<const void>& keeper) {
  const auto offsets = filter_file::layer_offsets(shape);
  std::vector<Storage> layers;
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    layers.push_back(Storage::view(body.subspan(offsets[i], shape.layers[i].size_bytes), keeper));
  }
  return layers;
}

}  // namespace

FilterFile::FilterFile(std::string name, ByteView body, FilterFileHeader header,
                       std::unique_ptr<filter_file::SectionChecks> sections, AnyFilter filter)
    : name_(std::move(name)),
      body_(body),
      header_(std::move(header)),
      layer_offsets_(filter_file::layer_offsets(header_.shape)),
      sections_(std::move(sections)),
      filter_(std::move(filter)) {}

FilterFile::FilterFile(FilterFile&& other) noexcept = default;
FilterFile& FilterFile::operator=(FilterFile&& other) noexcept = default;
FilterFile::~FilterFile() = default;

Result<FilterFile> FilterFile::open(const std::string& path, const std::optional<Secret>& secret) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return fail(std::move(mapped).error());
  const auto keeper = std::make_shared<const MappedFile>(std::move(*mapped));
  return from_bytes(keeper->bytes(), keeper, path, secret);
}

Result<FilterFile> FilterFile::from_bytes(ByteView bytes, const std::shared_ptr<const void>& keeper,
                                          const std::string& name,
                                          const std::optional<Secret>& secret) {
  auto header = filter_file::decode_header(bytes, name);
  if (!header) return fail(std::move(header).error());
  const auto hasher = make_hasher(*header, secret, name);
  if (!hasher) return fail(hasher.error());
  const ByteView body = bytes.subspan(header->body_offset, header->body_size);
  auto filter =
      AnyFilter::restore(header->shape, *hasher, view_layers(header->shape, body, keeper));
  if (!filter) return filter_file::Refusal(name).corrupt(filter.error().message());
  if (filter->shape() != header->shape) {
    return filter_file::Refusal(name).corrupt(
        "its structure has no use for some of its parameters");
  }
  auto sections =
      std::make_unique<filter_file::SectionChecks>(filter_file::table_of(bytes, *header), body);
  return FilterFile(name, body, std::move(*header), std::move(sections), std::move(*filter));
}

Verdict FilterFile::check(KeyHash hash) const {
  if (!is_intact(hash)) return Verdict::unknown(Reason::corrupt);
  return filter_.may_contain(hash) ? Verdict::maybe() : Verdict::absent();
}

void FilterFile::check_many(std::span<const KeyHash> hashes, std::span<Verdict> out) const {
  assert(hashes.size() == out.size());
  std::array<bool, batch_keys> found;
  while (!hashes.empty()) {
    const std::size_t count = std::min(batch_keys, hashes.size());
    const auto batch = hashes.first(count);
    const bool all_intact = sections_->all_intact();
    for (std::size_t i = 0; i < count; ++i) {
      out[i] =
          all_intact || is_intact(batch[i]) ? Verdict::maybe() : Verdict::unknown(Reason::corrupt);
    }
    filter_.may_contain_many(batch, std::span(found).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!found[i] && out[i] == Verdict::maybe()) out[i] = Verdict::absent();
    }
    hashes = hashes.subspan(count);
    out = out.subspan(count);
  }
}

bool FilterFile::is_intact(KeyHash hash) const {
  if (sections_->all_intact()) return true;
  bool intact = true;
  filter_.for_each_touched(hash, [&](TouchedBytes touched) {
    intact =
        intact && sections_->intact(layer_offsets_[touched.layer] + touched.offset, touched.length);
  });
  return intact;
}

Result<void> FilterFile::verify_all(const FileProgress& progress) const {
  std::uint64_t damaged = 0;
  std::uint64_t first_damaged = 0;
  for (std::uint64_t section = 0; section < sections_->count(); ++section) {
    if (!sections_->intact_section(section) && damaged++ == 0) first_damaged = section;
    if (progress) {
      progress(std::min((section + 1) * filter_file::section_bytes, body_.size()), body_.size());
    }
  }
  if (damaged == 0) return {};
  return filter_file::Refusal(name_).corrupt(fmt::format(
      "{} of its {} sections of 1 MiB do not hold, the first at byte {}", damaged,
      sections_->count(), header_.body_offset + first_damaged * filter_file::section_bytes));
}

Result<const AnyFilter*> FilterFile::verified() const {
  if (auto intact = verify_all(); !intact) return fail(std::move(intact).error());
  return &filter_;
}

Result<AnyFilter> FilterFile::load() const {
  if (auto intact = verify_all(); !intact) return fail(std::move(intact).error());
  std::vector<Storage> layers;
  for (const ByteView from : filter_.layer_bytes()) {
    auto layer = Storage::allocate(from.size());
    if (!layer) return fail(std::move(layer).error());
    std::memcpy(layer->mutable_data(), from.data(), from.size());
    layers.push_back(std::move(*layer));
  }
  return AnyFilter::restore(header_.shape, hasher(), std::move(layers));
}

}  // namespace guestlist
