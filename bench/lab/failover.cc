// What a fault costs a transfer in a lab of kernels: the longest gap after a path or a plane silently goes,
// and the goodput with fewer planes, links limited to a rate. Both ends go before all other work of the
// machine, where they may. Beside each gap stands how long either end was kept from working all the same.
//
// TCP and MPTCP stand in the same lab for comparison: the same faults, of the path and the plane that they
// use.
//
//   lab_failover [--trials 20] [--peer-trials 5] [--rate 1G] [--json]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "streams.h"
#include "tools/lab_story.h"
#include "tools/real_time.h"
#include "topo/spec.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;
using lab::Lab;
using tools::Phase;

constexpr std::uint32_t kPlanes = 4;
constexpr double kSettle = 0.15, kWatch = 0.15, kRateSeconds = 1;  // seconds
constexpr std::chrono::milliseconds kPeerSettle{500}, kPeerWatch{1500};
constexpr double kPeerReturns = 60;  // seconds: a stream may have backed off for as long as its fault lasted
constexpr double kUndisturbed = 1;   // ms that either end may be late in a trial that counts as undisturbed

double at(std::vector<double> sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

/// Fails and heals `target` silently, again and again.
Result<Json> gaps(Lab& lab, const std::string& target, int trials, const tools::BulkSettings& settings) {
  std::vector<Phase> phases;
  for (int i = 0; i < trials; ++i) {
    phases.push_back({"whole", [](Lab& l) { return l.heal(); }, kSettle});
    phases.push_back({"fails", [=](Lab& l) { return l.fail(target, true); }, kWatch});
  }
  phases.push_back({"whole", [](Lab& l) { return l.heal(); }, kSettle});
  const auto r = tools::run_story(
      lab, {{"h0", "h1"}}, phases, [](auto...) {}, settings);
  if (!r) return r.error();
  std::vector<double> gap[2], late, calm, rate;  // [0]: whole, [1]: failing
  for (std::size_t i = 0; i + 1 < r->phases.size(); ++i) {
    gap[i % 2].push_back(static_cast<double>(r->phases[i].longest_gap_ns) / 1e6);
    if (i % 2 == 0) {
      rate.push_back(r->phases[i].goodput() / 1e9);
      continue;
    }
    late.push_back(static_cast<double>(r->phases[i].late_ns) / 1e6);
    if (late.back() < kUndisturbed) calm.push_back(gap[1].back());
  }
  return Json{{"fails", target},
              {"undisturbed_trials", calm.size()},
              {"gap_ms_median_undisturbed", calm.empty() ? Json() : Json(at(calm, 0.5))},
              {"trials", trials},
              {"gap_ms_median", at(gap[1], 0.5)},
              {"gap_ms_p95", at(gap[1], 0.95)},
              {"gap_ms_median_while_whole", at(gap[0], 0.5)},
              {"late_ms_median", at(late, 0.5)},
              {"gbps_while_whole", at(rate, 0.5)},
              {"flawless", r->flawless()}};
}

/// Goodput with 0 .. P-1 planes down, and what part of the remaining planes' rate that is.
Result<Json> planes_down(Lab& lab, std::uint64_t rate, const tools::BulkSettings& settings) {
  std::vector<Phase> phases;
  for (std::uint32_t k = 0; k < kPlanes; ++k) {
    const std::string port = "h0.p" + std::to_string(k - 1);
    phases.push_back({"settle", [=](Lab& l) { return k == 0 ? Status(Done{}) : l.fail(port); }, kSettle});
    phases.push_back({"measure", {}, kRateSeconds});
  }
  phases.push_back({"whole", [](Lab& l) { return l.heal(); }, kSettle});
  const auto r = tools::run_story(
      lab, {{"h0", "h1"}}, phases, [](auto...) {}, settings);
  if (!r) return r.error();
  Json out = Json::array();
  for (std::uint32_t k = 0; k < kPlanes; ++k) {
    const double goodput = r->phases[2 * k + 1].goodput();
    out.push_back({{"planes_down", k},
                   {"gbps", goodput / 1e9},
                   {"of_remaining_rate", goodput / (static_cast<double>(rate) * (kPlanes - k))},
                   {"of_whole_scaled", goodput / (r->phases[1].goodput() * (kPlanes - k) / kPlanes)}});
  }
  return out;
}

/// The same faults under a stream of another protocol. Its plane is 0, its T1 the one that carries it then.
Result<Json> peer_gaps(Lab& lab, const topo::Topology& topo, bench::Protocol protocol, bool plane,
                       int trials) {
  auto stream = bench::Stream::start(lab, topo, protocol);
  if (!stream) return stream.error();
  std::vector<double> gaps;
  for (int i = 0; i < trials; ++i) {
    std::this_thread::sleep_for(kPeerSettle);
    const std::string link = "p0.t0.0-p0.t1." + std::to_string(bench::busiest_uplink(lab, topo));
    stream->take_gap_ms();
    if (auto failed = lab.fail(plane ? "p0" : link, true); !failed) return failed.error();
    std::this_thread::sleep_for(kPeerWatch);
    gaps.push_back(stream->take_gap_ms());
    if (auto healed = lab.heal(); !healed) return healed.error();
    if (!stream->wait_for_data(kPeerReturns))
      return Error{ETIMEDOUT, "a stream did not return after its fault"};
  }
  return Json{{"trials", trials}, {"gap_ms_median", at(gaps, 0.5)}, {"gap_ms_p95", at(gaps, 0.95)}};
}

/// What a stream carries while everything works, Gb/s.
Result<double> peer_rate(Lab& lab, const topo::Topology& topo, bench::Protocol protocol) {
  auto stream = bench::Stream::start(lab, topo, protocol);
  if (!stream) return stream.error();
  std::this_thread::sleep_for(kPeerSettle);
  const std::uint64_t before = stream->bytes();
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(2 * kPeerWatch);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return static_cast<double>(stream->bytes() - before) * 8e-9 / took.count();
}

Json peers(Lab& lab, const topo::Topology& topo, int trials) {
  Json out;
  for (const auto& [name, protocol] :
       {std::pair{"tcp", bench::Protocol::tcp}, {"mptcp", bench::Protocol::mptcp}}) {
    const auto rate = peer_rate(lab, topo, protocol);
    out[name]["gbps"] = rate ? Json(*rate) : Json(rate.error().what);
    for (const bool plane : {false, true}) {
      const auto gaps = peer_gaps(lab, topo, protocol, plane, trials);
      out[name][plane ? "plane" : "path"] = gaps ? *gaps : Json(gaps.error().what);
      (void)lab.heal();
    }
  }
  return out;
}

/// Asked in a thread that ends: this one breaks and heals, and stays as it is.
bool may_go_first() {
  bool may = false;
  std::thread([&] { may = tools::go_first(); }).join();
  return may;
}

int fail(const Error& error) { return std::fprintf(stderr, "lab_failover: %s\n", error.what.c_str()), 1; }

int run(int trials, int peer_trials, const std::string& rate_text, bool gaps_only) {
  const auto rate = topo::parse_rate(rate_text);
  if (!rate) return fail(rate.error());
  const auto fabric = topo::Topology::make({.planes = kPlanes,
                                            .tiers = 2,
                                            .t0 = 2,
                                            .t1 = 2,
                                            .hosts_per_t0 = 1,
                                            .host_link = {.bits_per_second = *rate}});
  if (!fabric) return fail(fabric.error());
  auto lab = Lab::start(*fabric, {});
  if (!lab) return fail(lab.error());
  // A short queue: what stands in it delays every answer, and so the detection of a fault.
  const tools::BulkSettings small{
      .message_bytes = 32 * 1024, .slots = 32, .queue_us = 50, .spray_unit = 4, .real_time = true};
  Json out = {{"rate", rate_text},
              {"planes", kPlanes},
              {"real_time", may_go_first()},
              {"queue_us", small.queue_us},
              {"spray_unit", small.spray_unit}};
  for (const char* target : {"p0.t0.0-p0.t1.0", "p1"}) {
    auto figures = gaps(*lab, target, trials, small);
    if (!figures) return fail(figures.error());
    out[target[2] == '.' ? "path" : "plane"] = *figures;
  }
  if (gaps_only) return std::printf("%s\n", out.dump(2).c_str()), 0;
  auto planes = planes_down(*lab, *rate, {.real_time = true});
  if (!planes) return fail(planes.error());
  out["planes_down"] = *planes;
  if (peer_trials > 0) out["peers"] = peers(*lab, *fabric, peer_trials);
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace mrc

int main(int argc, char** argv) {
  CLI::App app{"what faults cost a transfer in a lab of kernels; one JSON object"};
  int trials = 20, peer_trials = 5;
  std::string rate = "1G";
  bool json = true;
  app.add_option("--trials", trials, "of each fault")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--peer-trials", peer_trials, "of each fault, for TCP and for MPTCP; 0: without them")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--rate", rate, "of every NIC port")->capture_default_str();
  bool gaps_only = false;
  app.add_flag("--gaps-only", gaps_only, "neither rates nor other protocols");
  app.add_flag("--json", json, "the only form there is");
  app.footer("Example: lab_failover --trials 20 --rate 1G");
  CLI11_PARSE(app, argc, argv);
  return mrc::run(trials, peer_trials, rate, gaps_only);
}
