// bench/datapath/raw: what this machine can do between two namespaces without MRC, and what a Port makes of
// it. Rounds are interleaved, so that a busy neighbour hits every row alike; figures are medians over the
// rounds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measures.h"

namespace mrc::bench {
namespace {

/// One figure of one measurement: Gb/s or us, and what a packet cost the sender.
struct Sample {
  double value = 0;
  double sender_ns = 0;  // CPU time per packet; 0 where it means nothing
};

struct Row {
  std::string name;
  std::string unit;
  std::function<std::optional<Sample>(const Sandbox&)> run;
  std::vector<double> values;
  std::vector<double> costs;
};

Row stream_row(const std::string& name, const StreamPlan& plan) {
  return {name,
          "Gb/s",
          [plan](const Sandbox& sandbox) -> std::optional<Sample> {
            const auto result = measure_stream(sandbox, plan);
            if (!result) return std::nullopt;
            return Sample{result->gbps, result->sender_ns_per_packet};
          },
          {},
          {}};
}

Row ping_row(const std::string& name, const PingPlan& plan) {
  return {name,
          "us",
          [plan](const Sandbox& sandbox) -> std::optional<Sample> {
            const auto result = measure_ping(sandbox, plan);
            if (!result) return std::nullopt;
            return Sample{result->half_rtt_us_p50, 0};
          },
          {},
          {}};
}

Row cost_row(const std::string& name, const CostPlan& plan) {
  return {name,
          "ns",
          [plan](const Sandbox& sandbox) -> std::optional<Sample> {
            const auto cost = measure_cost_ns(sandbox, plan);
            if (!cost) return std::nullopt;
            return Sample{*cost, 0};
          },
          {},
          {}};
}

std::vector<Row> cost_rows_of(const std::string& via, const std::vector<unsigned>& trains, double seconds,
                              bool v6) {
  std::vector<Row> out;
  for (const unsigned train : trains)
    if (train == 1 || via == "socket" || via == "udp")
      out.push_back(cost_row(via + "_cost_train_" + std::to_string(train),
                             {.via = via, .train = train, .seconds = seconds, .v6 = v6}));
  out.push_back(
      cost_row(via + "_cost_8_bytes", {.via = via, .packet_bytes = 8, .seconds = seconds, .v6 = v6}));
  return out;
}

std::vector<Row> rows_of(const std::string& via, const std::vector<unsigned>& trains, double seconds,
                         bool v6) {
  std::vector<Row> out;
  for (const unsigned train : trains) {
    if (train > 1 && via != "socket" && via != "udp") continue;  // frames leave one by one
    out.push_back(stream_row(via + "_train_" + std::to_string(train),
                             {.via = via, .train = train, .seconds = seconds, .v6 = v6}));
  }
  out.push_back(stream_row(via + "_spray_1_of_16", {.via = via, .paths = 16, .seconds = seconds, .v6 = v6}));
  for (const bool blocking : {false, true})
    out.push_back(ping_row(via + (blocking ? "_ping_blocking" : "_ping_spin"),
                           {.via = via, .blocking = blocking, .seconds = seconds, .v6 = v6}));
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_table(const std::vector<Row>& all) {
  std::printf("%-26s %10s %10s %10s      %s\n", "", "median", "least", "most", "sender's CPU per packet");
  for (const Row& row : all) {
    if (row.values.empty()) {
      std::printf("%-26s %10s\n", row.name.c_str(), "failed");
      continue;
    }
    const auto [least, most] = std::minmax_element(row.values.begin(), row.values.end());
    std::printf("%-26s %10.2f %10.2f %10.2f %-4s", row.name.c_str(), median(row.values), *least, *most,
                row.unit.c_str());
    if (median(row.costs) > 0) std::printf(" %8.0f ns", median(row.costs));
    std::printf("\n");
  }
}

void print_row_json(const Row& row) {
  std::printf("  {\"name\": \"%s\", \"unit\": \"%s\", \"values\": [", row.name.c_str(), row.unit.c_str());
  for (std::size_t i = 0; i < row.values.size(); ++i)
    std::printf("%s%.3f", i == 0 ? "" : ", ", row.values[i]);
  std::printf("]");
  if (!row.values.empty())
    std::printf(", \"median\": %.3f, \"sender_ns_per_packet\": %.0f", median(row.values), median(row.costs));
  std::printf("}");
}

void print_json(const std::vector<Row>& all, unsigned rounds, bool v6) {
  std::printf("{\"rounds\": %u, \"family\": \"%s\", \"rows\": [\n", rounds, v6 ? "ipv6" : "ipv4");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) std::printf(",\n");
    print_row_json(all[i]);
  }
  std::printf("\n]}\n");
}

int main_of_raw(int argc, char** argv) {
  CLI::App app{
      "Raw UDP between two namespaces over veth: streams of single packets and of trains, and ping-pong."};
  app.footer("Example: bench_raw --seconds 0.5 --rounds 5 --via socket --via udp --json");
  double seconds = 1;
  unsigned rounds = 3, mtu = 9000;
  bool json = false, v4 = false, cost = false;
  std::vector<std::string> ways = {"socket", "udp"};
  std::vector<unsigned> trains = {1, 2, 4, 8, 15};
  app.add_option("--seconds", seconds, "of each measurement")->check(CLI::Range(0.05, 60.0));
  app.add_option("--rounds", rounds, "how often everything is repeated")->check(CLI::Range(1, 100));
  app.add_option("--mtu", mtu, "of the veth")->check(CLI::Range(1280, 65535));
  app.add_option("--via", ways, "socket (plain system calls), or a port: udp, packet, xdp, xdp_generic")
      ->check(CLI::IsMember({"socket", "udp", "packet", "xdp", "xdp_generic"}));
  app.add_option("--train", trains, "packets in one send")->check(CLI::Range(1, 15));
  app.add_flag("--cost", cost,
               "CPU time per packet, both ends in one thread, instead of rates: steady on a busy machine");
  app.add_flag("--v4", v4, "IPv4 instead of IPv6");
  app.add_flag("--json", json, "print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);
  const auto sandbox = Sandbox::make(mtu);
  if (!sandbox) {
    std::fprintf(stderr, "bench_raw: %s\n", sandbox.error().what.c_str());
    return 1;
  }
  std::vector<Row> all;
  for (const std::string& via : ways)
    for (Row& row : (cost ? cost_rows_of : rows_of)(via, trains, seconds, !v4)) all.push_back(std::move(row));
  for (unsigned round = 0; round < rounds; ++round)
    for (Row& row : all)
      if (const auto sample = row.run(**sandbox)) {
        row.values.push_back(sample->value);
        row.costs.push_back(sample->sender_ns);
      }
  json ? print_json(all, rounds, !v4) : print_table(all);
  return std::all_of(all.begin(), all.end(), [](const Row& row) { return !row.values.empty(); }) ? 0 : 1;
}

}  // namespace
}  // namespace mrc::bench

int main(int argc, char** argv) { return mrc::bench::main_of_raw(argc, argv); }
