// A filter in this process: plan it, fill it, ask it.

#include <cstdio>
#include <string>

#include "guestlist/filter/bloom_filter.hpp"

int main() {
  using namespace guestlist;
  // A plan is checked once; a filter that is built from one cannot fail any more.
  const auto plan = FilterPlan::make(100'000, 0.01);
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message().c_str()), 1;
  auto filter = BloomFilter::make(*plan, KeyHasher::siphash(Secret::random()));
  if (!filter) return std::fprintf(stderr, "%s\n", filter.error().message().c_str()), 1;

  for (int id = 0; id < 100'000; ++id) filter->insert(std::to_string(id));

  int denied = 0;
  for (int id = 0; id < 100'000; ++id) denied += filter->may_contain(std::to_string(id)) ? 0 : 1;
  int passed = 0;
  for (int id = 100'000; id < 200'000; ++id)
    passed += filter->may_contain(std::to_string(id)) ? 1 : 0;

  std::printf("%.2f bits a key; keys denied: %d; others passed: %.2f %%\n", plan->bits_per_key(),
              denied, 100.0 * passed / 100'000);
  return denied == 0 ? 0 : 1;
}
