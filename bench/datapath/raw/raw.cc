// bench/datapath/raw: what this machine can do between two namespaces without MRC, and what a Port makes of
// it. Rounds are interleaved, so that a busy neighbour hits every row alike; figures are medians over the
// rounds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "measures.h"

namespace mrc::bench {
namespace {

struct Row {
  std::string name;
  std::string unit;
  std::function<double(const Sandbox&)> run;  // negative: failed
  std::vector<double> values;
};

double gbps(const Sandbox& sandbox, StreamPlan plan) {
  const auto result = measure_stream(sandbox, plan);
  return result ? result->gbps : -1;
}

double half_rtt(const Sandbox& sandbox, PingPlan plan) {
  const auto result = measure_ping(sandbox, plan);
  return result ? result->half_rtt_us_p50 : -1;
}

std::vector<Row> rows(const std::vector<std::string>& ways, const std::vector<unsigned>& trains,
                      double seconds, bool v6) {
  std::vector<Row> out;
  for (const std::string& via : ways) {
    for (const unsigned train : trains)
      out.push_back({via + "_train_" + std::to_string(train),
                     "Gb/s",
                     [=](const Sandbox& s) {
                       return gbps(s, {.via = via, .train = train, .seconds = seconds, .v6 = v6});
                     },
                     {}});
    out.push_back(
        {via + "_spray_1_of_16",
         "Gb/s",
         [=](const Sandbox& s) { return gbps(s, {.via = via, .paths = 16, .seconds = seconds, .v6 = v6}); },
         {}});
    for (const bool blocking : {false, true})
      out.push_back({via + (blocking ? "_ping_blocking" : "_ping_spin"),
                     "us",
                     [=](const Sandbox& s) {
                       return half_rtt(s, {.via = via, .blocking = blocking, .seconds = seconds, .v6 = v6});
                     },
                     {}});
  }
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_table(const std::vector<Row>& all) {
  std::printf("%-26s %10s %10s %10s\n", "", "median", "least", "most");
  for (const Row& row : all) {
    if (row.values.empty()) {
      std::printf("%-26s %10s\n", row.name.c_str(), "failed");
      continue;
    }
    const auto [least, most] = std::minmax_element(row.values.begin(), row.values.end());
    std::printf("%-26s %10.2f %10.2f %10.2f %s\n", row.name.c_str(), median(row.values), *least, *most,
                row.unit.c_str());
  }
}

void print_json(const std::vector<Row>& all, unsigned rounds, bool v6) {
  std::printf("{\"rounds\": %u, \"family\": \"%s\", \"rows\": [", rounds, v6 ? "ipv6" : "ipv4");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Row& row = all[i];
    std::printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"median\": ", i == 0 ? "" : ",",
                row.name.c_str(), row.unit.c_str());
    if (row.values.empty()) {
      std::printf("null, \"values\": []}");
      continue;
    }
    std::printf("%.3f, \"values\": [", median(row.values));
    for (std::size_t v = 0; v < row.values.size(); ++v)
      std::printf("%s%.3f", v == 0 ? "" : ", ", row.values[v]);
    std::printf("]}");
  }
  std::printf("\n]}\n");
}

int main_of_raw(int argc, char** argv) {
  CLI::App app{
      "Raw UDP between two namespaces over veth: streams of single packets and of trains, and ping-pong."};
  app.footer("Example: bench_raw --seconds 0.5 --rounds 5 --via socket --via udp --json");
  double seconds = 1;
  unsigned rounds = 3, mtu = 9000;
  bool json = false, v4 = false;
  std::vector<std::string> ways = {"socket", "udp"};
  std::vector<unsigned> trains = {1, 2, 4, 8, 15};
  app.add_option("--seconds", seconds, "of each measurement")->check(CLI::Range(0.05, 60.0));
  app.add_option("--rounds", rounds, "how often everything is repeated")->check(CLI::Range(1, 100));
  app.add_option("--mtu", mtu, "of the veth")->check(CLI::Range(1280, 65535));
  app.add_option("--via", ways, "socket (plain system calls), or a port: udp")
      ->check(CLI::IsMember({"socket", "udp"}));
  app.add_option("--train", trains, "packets in one send")->check(CLI::Range(1, 15));
  app.add_flag("--v4", v4, "IPv4 instead of IPv6");
  app.add_flag("--json", json, "print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);
  const auto sandbox = Sandbox::make(mtu);
  if (!sandbox) {
    std::fprintf(stderr, "bench_raw: %s\n", sandbox.error().what.c_str());
    return 1;
  }
  auto all = rows(ways, trains, seconds, !v4);
  for (unsigned round = 0; round < rounds; ++round)
    for (Row& row : all)
      if (const double value = row.run(**sandbox); value >= 0) row.values.push_back(value);
  json ? print_json(all, rounds, !v4) : print_table(all);
  return std::all_of(all.begin(), all.end(), [](const Row& row) { return !row.values.empty(); }) ? 0 : 1;
}

}  // namespace
}  // namespace mrc::bench

int main(int argc, char** argv) { return mrc::bench::main_of_raw(argc, argv); }
