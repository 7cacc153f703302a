#include "metrics.hpp"

#include "bloom_keys.hpp"

namespace guestlist::server {

void tell_metrics(InfoContext* out, int /*for_crash_report*/) {
  const BloomCounts bloom = bloom_totals();
  api::info_add_section(out, "bloom_core_metrics");
  api::info_add_field_u_long_long(out, "bloom_total_memory_bytes", bloom.bytes);
  api::info_add_field_u_long_long(out, "bloom_num_objects", bloom.objects);
  api::info_add_field_u_long_long(out, "bloom_num_filters_across_objects", bloom.layers);
  api::info_add_field_u_long_long(out, "bloom_num_items_across_objects", bloom.items);
  api::info_add_field_u_long_long(out, "bloom_capacity_across_objects", bloom.capacity);
}

}  // namespace guestlist::server
