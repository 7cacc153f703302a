#include "guestlist/redis/remote_filter.hpp"

namespace guestlist {

void RemoteFilter::add(std::span<const std::string_view> keys, Deadline deadline,
                       Completion<void> done) {
  add_counted(keys, deadline, [done = std::move(done)](const Result<std::uint64_t>& changed) {
    done(changed ? Result<void>() : Result<void>(fail(changed.error())));
  });
}

}  // namespace guestlist
