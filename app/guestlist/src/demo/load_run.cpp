#include "demo/load_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "guestlist/http/http_client.hpp"

namespace guestlist::demo {
namespace {

using Time = std::chrono::steady_clock;
constexpr std::chrono::seconds answer_timeout{10};

/// One connection's share of the result.
struct Part {
  LoadResult counts;
  std::vector<std::uint32_t> all_us;
  std::vector<std::uint32_t> existing_us;
  /// Whether these exist nobody can say: a write that failed may have happened all the same.
  std::unordered_set<std::string> failed_creates;
};

HttpRequest to_http(const PlannedRequest& planned) {
  if (planned.kind != RequestKind::create)
    return {"GET", "/packages/" + percent_encode(planned.name), ""};
  return {"POST", "/packages",
          R"({"name":")" + planned.name + R"(","version":"1.0","description":"made meanwhile"})"};
}

void judge(const PlannedRequest& planned, const Result<HttpResponse>& response, Part& part) {
  LoadResult& counts = part.counts;
  ++counts.requests;
  ++counts.by_kind[static_cast<std::size_t>(planned.kind)];
  const unsigned status = response ? response->status : 0;
  if (planned.kind == RequestKind::create) {
    counts.created += status == 201;
    counts.failed += status != 201;
    counts.failed_creates += status != 201;
    if (status != 201) part.failed_creates.insert(planned.name);
    return;
  }
  if (planned.must_exist()) {
    counts.existing_rejected += status == 404 && !part.failed_creates.contains(planned.name);
    counts.failed += status != 200 && status != 404;
    return;
  }
  ++counts.absent;
  counts.absent_names.insert(planned.name);
  counts.absent_found += status == 200;
  counts.failed += status != 200 && status != 404;
}

void drive(HttpClient client, std::uint16_t port, Traffic traffic, std::uint64_t requests,
           std::atomic<std::uint64_t>& done, Part& part) {
  std::optional<HttpClient> connection(std::move(client));
  for (std::uint64_t i = 0; i < requests; ++i) {
    const PlannedRequest planned = traffic.next();
    const HttpRequest request = to_http(planned);
    if (!connection) {
      auto again = HttpClient::connect("127.0.0.1", port, answer_timeout);
      if (again) connection.emplace(std::move(*again));
    }
    const auto began = Time::now();
    const Result<HttpResponse> response =
        connection ? connection->send(request)
                   : Result<HttpResponse>(fail(Errc::unavailable, "no connection"));
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Time::now() - began);
    if (!response) connection.reset();
    judge(planned, response, part);
    part.all_us.push_back(static_cast<std::uint32_t>(took.count()));
    if (planned.must_exist()) part.existing_us.push_back(part.all_us.back());
    done.fetch_add(1, std::memory_order_relaxed);
  }
}

double percentile(std::vector<std::uint32_t>& sample, double share) {
  if (sample.empty()) return 0;
  const auto at = std::min(sample.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(sample.size())));
  const auto nth = sample.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(sample.begin(), nth, sample.end());
  return *nth;
}

LatencySummary summarise(std::vector<std::uint32_t>& sample) {
  return {percentile(sample, 0.50), percentile(sample, 0.99)};
}

LoadResult sum_up(std::vector<Part>& parts) {
  Part whole;
  LoadResult& sum = whole.counts;
  for (Part& part : parts) {
    LoadResult& counts = part.counts;
    sum.requests += counts.requests;
    for (std::size_t kind = 0; kind < request_kind_count; ++kind)
      sum.by_kind[kind] += counts.by_kind[kind];
    sum.absent += counts.absent;
    sum.created += counts.created;
    sum.existing_rejected += counts.existing_rejected;
    sum.absent_found += counts.absent_found;
    sum.failed += counts.failed;
    sum.failed_creates += counts.failed_creates;
    sum.absent_names.merge(counts.absent_names);
    whole.all_us.insert(whole.all_us.end(), part.all_us.begin(), part.all_us.end());
    whole.existing_us.insert(whole.existing_us.end(), part.existing_us.begin(),
                             part.existing_us.end());
  }
  sum.all = summarise(whole.all_us);
  sum.existing = summarise(whole.existing_us);
  return std::move(whole.counts);
}

}  // namespace

Result<LoadResult> run_load(const std::vector<std::uint16_t>& ports, const Names& names,
                            const LoadOptions& options) {
  const auto port_of = [&](std::size_t connection) { return ports[connection % ports.size()]; };
  std::vector<HttpClient> clients;
  while (clients.size() < options.connections) {
    auto client = HttpClient::connect("127.0.0.1", port_of(clients.size()), answer_timeout);
    if (!client) return fail(std::move(client).error());
    clients.push_back(std::move(*client));
  }
  std::vector<Part> parts(options.connections);
  std::atomic<std::uint64_t> done = 0;
  const auto began = Time::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.connections; ++i) {
    const std::uint64_t share =
        options.requests / options.connections + (i < options.requests % options.connections);
    threads.emplace_back(drive, std::move(clients[i]), port_of(i), Traffic(names, options.seed, i),
                         share, std::ref(done), std::ref(parts[i]));
  }
  while (done.load(std::memory_order_relaxed) < options.requests) {
    if (options.progress) options.progress(done.load(std::memory_order_relaxed));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = Time::now() - began;
  LoadResult result = sum_up(parts);
  result.seconds = seconds.count();
  return result;
}

}  // namespace guestlist::demo
