#include "guestlist/filter/any_filter.hpp"

#include <fmt/format.h>

#include <cassert>

namespace guestlist {
namespace {

template <class F>
Result<AnyFilter> restore_as(const FilterShape& shape, const KeyHasher& hasher,
                             std::vector<Storage> layers) {
  auto filter = F::restore(shape, hasher, std::move(layers));
  if (!filter) return fail(std::move(filter).error());
  return AnyFilter(std::move(*filter));
}

}  // namespace

Result<AnyFilter> AnyFilter::restore(const FilterShape& shape, const KeyHasher& hasher,
                                     std::vector<Storage> layers) {
  switch (shape.structure) {
    case Structure::bloom:
      return restore_as<BloomFilter>(shape, hasher, std::move(layers));
    case Structure::classic_bloom:
      return restore_as<ClassicBloomFilter>(shape, hasher, std::move(layers));
    case Structure::counting_bloom:
      return restore_as<CountingBloomFilter>(shape, hasher, std::move(layers));
    case Structure::scalable_bloom:
      return restore_as<ScalableBloomFilter>(shape, hasher, std::move(layers));
    case Structure::cuckoo:
      return restore_as<CuckooFilter>(shape, hasher, std::move(layers));
  }
  return fail(Errc::corrupt,
              fmt::format("there is no structure number {}", static_cast<int>(shape.structure)));
}

bool AnyFilter::may_contain(KeyHash hash) const {
  return std::visit([&](const auto& filter) { return filter.may_contain(hash); }, filter_);
}

void AnyFilter::may_contain_many(std::span<const KeyHash> hashes, std::span<bool> out) const {
  assert(hashes.size() == out.size());
  std::visit(
      [&](const auto& filter) {
        if constexpr (requires { filter.may_contain_many(hashes, out); }) {
          filter.may_contain_many(hashes, out);
        } else {
          for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = filter.may_contain(hashes[i]);
        }
      },
      filter_);
}

const KeyHasher& AnyFilter::hasher() const {
  return std::visit([](const auto& filter) -> const KeyHasher& { return filter.hasher(); },
                    filter_);
}

FilterShape AnyFilter::shape() const {
  return std::visit([](const auto& filter) { return filter.shape(); }, filter_);
}

std::vector<ByteView> AnyFilter::layer_bytes() const {
  return std::visit([](const auto& filter) { return filter.layer_bytes(); }, filter_);
}

std::uint64_t AnyFilter::size_bytes() const {
  return std::visit([](const auto& filter) { return filter.size_bytes(); }, filter_);
}

double AnyFilter::fill() const {
  return std::visit([](const auto& filter) { return filter.fill(); }, filter_);
}

std::uint64_t AnyFilter::approximate_count() const {
  return std::visit([](const auto& filter) { return filter.approximate_count(); }, filter_);
}

double AnyFilter::fpr_now() const {
  return std::visit([](const auto& filter) { return filter.fpr_now(); }, filter_);
}

Result<bool> AnyFilter::insert(KeyHash hash) {
  return std::visit([&](auto& filter) -> Result<bool> { return filter.insert(hash); }, filter_);
}

Result<std::uint64_t> AnyFilter::insert_many(std::span<const KeyHash> hashes) {
  return std::visit(
      [&](auto& filter) -> Result<std::uint64_t> {
        if constexpr (requires { filter.insert_many(hashes); }) {
          return filter.insert_many(hashes);
        } else {
          std::uint64_t changed = 0;
          for (const KeyHash hash : hashes) {
            Result<bool> inserted = filter.insert(hash);
            if (!inserted) return fail(std::move(inserted).error());
            changed += *inserted ? 1 : 0;
          }
          return changed;
        }
      },
      filter_);
}

Result<void> AnyFilter::merge(const AnyFilter& other) {
  return std::visit(
      [&](auto& filter) -> Result<void> {
        using Same = std::remove_cvref_t<decltype(filter)>;
        if (const auto* same = std::get_if<Same>(&other.filter_)) return filter.merge(*same);
        return fail(Errc::mismatched,
                    fmt::format("a {} filter cannot be merged with a {} filter; build both alike",
                                name(shape().structure), name(other.shape().structure)));
      },
      filter_);
}

void AnyFilter::clear() {
  std::visit([](auto& filter) { filter.clear(); }, filter_);
}

}  // namespace guestlist
