#pragma once

// The rows that every filter is measured in, ours and others', all in one run:
//
//   insert/one      insert/many      query/present/one   query/present/many   query/absent/one
//   query/absent/many,   each at /20k, /1M, /10M (and /100M with GUESTLIST_BENCH_LARGE=1), /1% and
//   /0.1%
//
// Each row carries the bits a key and the measured false positive rate, so that nobody wins by
// being bigger or less exact. Keys are random 64-bit integers. Where a filter has no call for many
// keys its `many` is a loop. Compare rows of one run only, with
// --benchmark_enable_random_interleaving and repetitions, by their minima.
//
// A filter of another project joins from a folder outside this tree,
// -DGUESTLIST_BENCH_EXTRA=<folder>: each
// *.cpp there includes this header, writes an adapter and registers it in a static initialiser.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace guestlist::bench {

template <class A>
concept FilterAdapter = requires(A filter, const A& same, std::uint64_t items, double fpr,
                                 std::uint64_t key, std::span<const std::uint64_t> keys,
                                 std::span<bool> found) {
  A(items, fpr);
  filter.clear();
  filter.insert(key);
  filter.insert_many(keys);
  { same.may_contain(key) } -> std::convertible_to<bool>;
  same.may_contain_many(keys, found);
  { same.size_bytes() } -> std::convertible_to<std::uint64_t>;
};

/// Key `index` of a stream of distinct random numbers; even streams and odd ones never meet.
inline std::uint64_t random_key(std::uint64_t index) {
  index = (index ^ (index >> 30)) * 0xBF58476D1CE4E5B9;
  index = (index ^ (index >> 27)) * 0x94D049BB133111EB;
  return index ^ (index >> 31);
}

constexpr std::size_t chunk = 1 << 16;

/// The keys of a run: those inserted, and as many others as are worth having in memory.
struct KeySets {
  std::vector<std::uint64_t> present;
  std::vector<std::uint64_t> absent;

  static const KeySets& of(std::uint64_t items) {
    static std::map<std::uint64_t, KeySets> sets;
    KeySets& keys = sets[items];
    if (keys.present.empty()) {
      keys.present.resize(items);
      keys.absent.resize(std::size_t{1} << 22);
      for (std::uint64_t i = 0; i < items; ++i) keys.present[i] = random_key(2 * i + 2);
      for (std::uint64_t i = 0; i < keys.absent.size(); ++i) keys.absent[i] = random_key(2 * i + 1);
    }
    return keys;
  }
};

/// Built once and shared by the rows that only ask.
template <class Adapter>
struct Filled {
  Adapter filter;
  double measured_fpr = 0;

  Filled(std::uint64_t items, double fpr) : filter(items, fpr) {
    const KeySets& keys = KeySets::of(items);
    filter.insert_many(keys.present);
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys.absent) found += filter.may_contain(key) ? 1 : 0;
    measured_fpr = static_cast<double>(found) / static_cast<double>(keys.absent.size());
    // A filter that denies a key has no place in a comparison.
    for (const std::uint64_t key : keys.present) {
      if (!filter.may_contain(key)) std::abort();
    }
  }

  static Filled& of(std::uint64_t items, double fpr) {
    static std::map<std::tuple<std::uint64_t, double>, std::unique_ptr<Filled>> built;
    auto& filled = built[{items, fpr}];
    if (!filled) filled = std::make_unique<Filled>(items, fpr);
    return *filled;
  }
};

template <class Adapter>
void report(benchmark::State& state, const Filled<Adapter>& filled, std::uint64_t items,
            std::uint64_t keys_an_iteration) {
  const auto per_run =
      static_cast<double>(state.iterations()) * static_cast<double>(keys_an_iteration);
  state.counters["per_key"] =
      benchmark::Counter(per_run, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bits_per_key"] =
      8 * static_cast<double>(filled.filter.size_bytes()) / static_cast<double>(items);
  state.counters["fpr"] = filled.measured_fpr;
}

template <class Adapter>
void insert(benchmark::State& state, std::uint64_t items, double fpr, bool many) {
  const KeySets& keys = KeySets::of(items);
  Filled<Adapter>& filled = Filled<Adapter>::of(items, fpr);
  for ([[maybe_unused]] auto iteration : state) {
    state.PauseTiming();
    filled.filter.clear();
    state.ResumeTiming();
    if (many) {
      filled.filter.insert_many(keys.present);
    } else {
      for (const std::uint64_t key : keys.present) filled.filter.insert(key);
    }
    benchmark::ClobberMemory();
  }
  report(state, filled, items, items);
}

template <class Adapter>
void query(benchmark::State& state, std::uint64_t items, double fpr, bool many, bool present) {
  const Filled<Adapter>& filled = Filled<Adapter>::of(items, fpr);
  const KeySets& sets = KeySets::of(items);
  const std::vector<std::uint64_t>& keys = present ? sets.present : sets.absent;
  const auto found = std::make_unique<bool[]>(chunk);
  const std::size_t size = std::min(chunk, keys.size());
  std::size_t start = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const auto some = std::span(keys).subspan(start, size);
    start = start + 2 * size <= keys.size() ? start + size : 0;
    if (many) {
      filled.filter.may_contain_many(some, std::span(found.get(), size));
      benchmark::DoNotOptimize(found.get());
      benchmark::ClobberMemory();
    } else {
      std::uint64_t count = 0;
      for (const std::uint64_t key : some) count += filled.filter.may_contain(key) ? 1 : 0;
      benchmark::DoNotOptimize(count);
    }
  }
  report(state, filled, items, size);
}

/// Registers every row of a filter under `name`; the value is there to initialise a static.
template <FilterAdapter Adapter>
bool register_filter(const std::string& name) {
  std::vector<std::pair<std::uint64_t, std::string>> sizes = {
      {20'000, "20k"}, {1'000'000, "1M"}, {10'000'000, "10M"}};
  if (std::getenv("GUESTLIST_BENCH_LARGE") != nullptr) sizes.emplace_back(100'000'000, "100M");
  for (const auto& [items, size] : sizes) {
    for (const auto& [fpr, rate] : {std::pair(0.01, "1%"), std::pair(0.001, "0.1%")}) {
      const std::string tail = "/" + size + "/" + rate + "/" + name;
      for (const bool many : {false, true}) {
        const std::string call = many ? "/many" : "/one";
        const auto add = [&](const std::string& operation, auto run) {
          benchmark::RegisterBenchmark((operation + call + tail).c_str(), run)
              ->Unit(benchmark::kMillisecond);
        };
        add("insert", [items = items, fpr = fpr, many](benchmark::State& state) {
          insert<Adapter>(state, items, fpr, many);
        });
        for (const bool present : {true, false}) {
          add(present ? "query/present" : "query/absent",
              [items = items, fpr = fpr, many, present](benchmark::State& state) {
                query<Adapter>(state, items, fpr, many, present);
              });
        }
      }
    }
  }
  return true;
}

}  // namespace guestlist::bench
