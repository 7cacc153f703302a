// What an item costs the server, in CPU time: guestlist.so in both layouts beside any other module
// that has the commands, each in a server of its own, in turns.
//
//   module_bench                              both layouts of guestlist.so
//   module_bench --module peer=/path/to/peer.so --keys 100000000 --fpr 0.001 --rounds 3
//
// CPU time is what INFO tells of the server's main thread before and after. It holds where the
// machine is shared; requests a second do not, and are not shown. Each figure is the least of the
// rounds.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "guestlist/servers/redis_server.hpp"

namespace {

using guestlist::servers::RedisOptions;
using guestlist::servers::RedisServer;

struct Options {
  std::uint64_t keys = 1'000'000;
  std::string fpr = "0.01";
  int rounds = 3;
  std::uint64_t items = 1'000'000;  ///< a measurement
  std::vector<std::pair<std::string, std::string>> modules;
};

void append_word(std::string& out, std::string_view word) {
  out += '$';
  out += std::to_string(word.size());
  out += "\r\n";
  out += word;
  out += "\r\n";
}

std::string element(const char* kind, std::uint64_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "%s:%012llu", kind, static_cast<unsigned long long>(index));
  return text;
}

/// A connection whose replies are counted by their bytes: every reply here is `:0` or `:1`.
class Pipe {
 public:
  explicit Pipe(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      std::abort();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { ::close(socket_); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void receive(std::size_t count) {
    char bytes[1 << 16];
    while (count > 0) {
      const ssize_t got = ::recv(socket_, bytes, std::min(count, sizeof bytes), 0);
      if (got <= 0) std::abort();
      if (std::memchr(bytes, '-', static_cast<std::size_t>(got)) != nullptr) {
        std::cerr << "a command was refused: "
                  << std::string(bytes, std::min<std::size_t>(200, static_cast<std::size_t>(got)))
                  << '\n';
        std::exit(1);
      }
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  int socket_;
};

struct Contestant {
  std::string name;
  RedisServer server;

  double cpu_seconds() {
    return std::stod(server.info("used_cpu_user_main_thread")) +
           std::stod(server.info("used_cpu_sys_main_thread"));
  }
};

using NextItem = std::function<std::string()>;

/// `count` items by `command`, `many` a command, and never more than `ahead` commands unanswered.
void run(Contestant& contestant, const std::string& command, std::uint64_t count,
         std::uint64_t many, std::uint64_t ahead, const NextItem& next) {
  const bool is_multi = many > 1;
  std::vector<std::string> requests;
  std::size_t reply_bytes = 0;
  Pipe pipe(contestant.server.unix_socket());
  for (std::uint64_t done = 0; done < count;) {
    // A piece at a time is written beforehand, so that the server never waits for our formatting.
    requests.clear();
    constexpr std::uint64_t piece = 200'000;
    const std::uint64_t until = std::min(count, done + piece);
    while (done < until) {
      std::string request;
      for (std::uint64_t i = 0; i < ahead && done < until; ++i) {
        const std::uint64_t items = std::min(many, until - done);
        request += "*" + std::to_string(items + 2) + "\r\n";
        append_word(request, command);
        append_word(request, "filter");
        for (std::uint64_t item = 0; item < items; ++item) append_word(request, next());
        done += items;
        reply_bytes += items * 4 + (is_multi ? std::to_string(items).size() + 3 : 0);
      }
      requests.push_back(std::move(request));
    }
    if (is_multi) {
      std::thread sender([&] {
        for (const std::string& request : requests) pipe.send(request);
      });
      pipe.receive(reply_bytes);
      sender.join();
    } else {
      std::size_t commands = 0;
      for (const std::string& request : requests) {
        commands = static_cast<std::size_t>(std::count(request.begin(), request.end(), '*'));
        pipe.send(request);
        pipe.receive(commands * 4);
      }
    }
    reply_bytes = 0;
  }
}

struct Workload {
  std::string name;
  std::string command;
  std::uint64_t many;
  std::uint64_t ahead;
  enum class Items { fresh, present, absent } items;
};

std::vector<Workload> workloads(const std::string& family) {
  using Items = Workload::Items;
  std::vector<Workload> all = {
      {"ADD, pipeline 1", ".ADD", 1, 1, Items::fresh},
      {"ADD, pipeline 32", ".ADD", 1, 32, Items::fresh},
      {"EXISTS present, pipeline 1", ".EXISTS", 1, 1, Items::present},
      {"EXISTS present, pipeline 32", ".EXISTS", 1, 32, Items::present},
      {"EXISTS absent, pipeline 32", ".EXISTS", 1, 32, Items::absent},
      {"MEXISTS 100 present", ".MEXISTS", 100, 4, Items::present},
      {"MEXISTS 100 absent", ".MEXISTS", 100, 4, Items::absent},
      {"MEXISTS 1000 present", ".MEXISTS", 1000, 1, Items::present},
      {"MEXISTS 1000 absent", ".MEXISTS", 1000, 1, Items::absent},
  };
  if (family == "BF") {
    all.push_back({"MADD 100", ".MADD", 100, 4, Items::fresh});
    all.push_back({"MADD 1000", ".MADD", 1000, 1, Items::fresh});
  }
  for (Workload& workload : all) {
    workload.name.insert(0, family + ".");
    workload.command.insert(0, family);
  }
  return all;
}

void measure_family(std::vector<Contestant>& contestants, const Options& options,
                    const std::string& family) {
  const std::uint64_t filled = options.keys / 2;
  std::map<std::string, std::map<std::string, double>> least;
  std::vector<std::uint64_t> fresh(contestants.size(), filled);
  for (Contestant& contestant : contestants) {
    contestant.server.command({"FLUSHALL", "SYNC"});
    const auto reserved =
        family == "BF"
            ? contestant.server.command(
                  {"BF.RESERVE", "filter", options.fpr, std::to_string(options.keys)})
            : contestant.server.command({"CF.RESERVE", "filter", std::to_string(options.keys)});
    if (reserved.is_error()) {
      std::cerr << contestant.name << ": " << reserved.text << '\n';
      return;
    }
    std::uint64_t index = 0;
    const NextItem next = [&index] { return element("element", index++); };
    if (family == "BF") {
      run(contestant, "BF.MADD", filled, 1000, 1, next);
    } else {
      run(contestant, "CF.ADD", filled, 1, 200, next);
    }
  }
  const auto all = workloads(family);
  for (int round = 0; round < options.rounds; ++round) {
    for (const Workload& workload : all) {
      const std::uint64_t count =
          workload.ahead == 1 && workload.many == 1 ? options.items / 10 : options.items;
      // Adds must not fill the filter: the share of a round.
      const std::uint64_t room = filled / 8 / static_cast<std::uint64_t>(options.rounds);
      const bool adds = workload.items == Workload::Items::fresh;
      const std::uint64_t items = adds ? std::min(count, room) : count;
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        std::mt19937_64 random(static_cast<std::uint64_t>(round) * 977 + 5);
        const NextItem next = [&]() -> std::string {
          switch (workload.items) {
            case Workload::Items::fresh:
              return element("element", fresh[i]++);
            case Workload::Items::present:
              return element("element", random() % filled);
            case Workload::Items::absent:
              break;
          }
          return element("missing", random() % 1'000'000'000'000ULL);
        };
        const double before = contestants[i].cpu_seconds();
        run(contestants[i], workload.command, items, workload.many, workload.ahead, next);
        const double spent = contestants[i].cpu_seconds() - before;
        double& best = least[workload.name]
                           .try_emplace(contestants[i].name, std::numeric_limits<double>::max())
                           .first->second;
        best = std::min(best, spent * 1e9 / static_cast<double>(items));
      }
    }
  }
  std::cout << "\n| " << family << ", " << options.keys << " keys, fpr " << options.fpr
            << "; server CPU ns an item |";
  for (const Contestant& contestant : contestants) std::cout << ' ' << contestant.name << " |";
  std::cout << "\n|---|";
  for (std::size_t i = 0; i < contestants.size(); ++i) std::cout << "---|";
  for (const Workload& workload : all) {
    std::cout << "\n| " << workload.name << " |";
    for (const Contestant& contestant : contestants)
      std::cout << ' ' << static_cast<long>(least[workload.name][contestant.name] + 0.5) << " |";
  }
  std::cout << "\n| bytes |";
  for (Contestant& contestant : contestants)
    std::cout << ' ' << contestant.server.command({"MEMORY", "USAGE", "filter"}).integer << " |";
  std::cout << std::endl;
}

Options parse(int argc, char** argv) {
  Options options;
  options.modules = {{"native", GUESTLIST_MODULE},
                     {"classic", GUESTLIST_MODULE " bf-layout classic"}};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = argv[i + 1];
    if (option == "--keys") options.keys = std::stoull(value);
    if (option == "--fpr") options.fpr = value;
    if (option == "--rounds") options.rounds = std::stoi(value);
    if (option == "--items") options.items = std::stoull(value);
    if (option == "--module") {
      const std::size_t equals = value.find('=');
      options.modules.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::vector<Contestant> contestants;
  for (const auto& [name, module] : options.modules) {
    RedisOptions settings;
    settings.settings = {"loadmodule " + module, "save \"\""};
    auto server = RedisServer::start(settings);
    if (!server) {
      std::cerr << name << ": " << server.error().message() << '\n';
      return 1;
    }
    contestants.push_back({name, *std::move(server)});
  }
  measure_family(contestants, options, "BF");
  if (!contestants.front().server.command({"COMMAND", "INFO", "CF.ADD"}).elements.front().is_nil())
    measure_family(contestants, options, "CF");
}
