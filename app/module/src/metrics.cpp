#include "metrics.hpp"

#include "bloom_keys.hpp"
#include "cuckoo_keys.hpp"

namespace guestlist::server {

void tell_metrics(InfoContext* out, int /*for_crash_report*/) {
  const FilterCounts bloom = bloom_totals();
  api::info_add_section(out, "bloom_core_metrics");
  api::info_add_field_u_long_long(out, "bloom_total_memory_bytes", bloom.bytes);
  api::info_add_field_u_long_long(out, "bloom_num_objects", bloom.objects);
  api::info_add_field_u_long_long(out, "bloom_num_filters_across_objects", bloom.layers);
  api::info_add_field_u_long_long(out, "bloom_num_items_across_objects", bloom.items);
  api::info_add_field_u_long_long(out, "bloom_capacity_across_objects", bloom.capacity);
  const FilterCounts cuckoo = cuckoo_totals();
  api::info_add_section(out, "cuckoo_core_metrics");
  api::info_add_field_u_long_long(out, "cuckoo_total_memory_bytes", cuckoo.bytes);
  api::info_add_field_u_long_long(out, "cuckoo_num_objects", cuckoo.objects);
  api::info_add_field_u_long_long(out, "cuckoo_num_filters_across_objects", cuckoo.layers);
  api::info_add_field_u_long_long(out, "cuckoo_num_items_across_objects", cuckoo.items);
  api::info_add_field_u_long_long(out, "cuckoo_capacity_across_objects", cuckoo.capacity);
}

}  // namespace guestlist::server
