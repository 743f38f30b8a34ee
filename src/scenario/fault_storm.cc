#include "scenario/fault_storm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/check.h"
#include "base/counted.h"
#include "base/prng.h"
#include "scenario/document.h"
#include "scenario/outcome.h"

namespace mrc::scenario {
namespace {

using sim::Flow;
using sim::Ps;

constexpr std::uint32_t kT0 = 2;

struct FaultWorld {
  std::uint32_t planes = 2, t1 = 1, hosts_per_t0 = 1, tail_eighths = 0;
  std::uint32_t bytes = 0, at_ns = 0;
  const char *pattern = "", *fault = "";
  std::string target;
  std::string words;  // all of it in a line
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : prng_(seed) {}

  FaultWorld make() {
    FaultWorld w;
    // Half of them have two planes, or one path per plane: a wrong guess costs most there.
    w.planes = prng_.below(2) == 0 ? 2 : 3 + prng_.below(2);
    w.t1 = prng_.below(2) == 0 ? 1 : 2u << prng_.below(2);
    w.hosts_per_t0 = 1u << prng_.below(3);
    w.pattern = one_of("tree_allreduce", "ring_allreduce", "pipeline", "permutation", "all_to_all");
    w.bytes = prng_.below(2) == 0 ? 1'000'000 : 1000 * static_cast<std::uint32_t>(prng_.between(100, 1000));
    w.fault = one_of("black_hole", "down");
    w.target = target(w);
    w.at_ns = static_cast<std::uint32_t>(prng_.between(3'000, 40'000));
    w.tail_eighths = prng_.below(2) * 16;
    w.words = words(w);
    return w;
  }

 private:
  template <typename... T>
  const char* one_of(T... choices) {
    const char* const all[] = {choices...};
    return all[prng_.below(sizeof...(choices))];
  }

  /// A whole plane, a switch of it, or one host's port to it.
  std::string target(const FaultWorld& w) {
    const auto any = [&](std::uint32_t n) { return std::to_string(prng_.below(n)); };
    const std::string plane = "p" + any(w.planes);
    switch (prng_.below(4)) {
      case 0: return plane;
      case 1: return plane + ".t1." + any(w.t1);
      case 2: return plane + ".t0." + any(kT0);
      default: return "h" + any(kT0 * w.hosts_per_t0) + "." + plane;
    }
  }

  static std::string words(const FaultWorld& w) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%u planes, %u T1, %s per T0, %s of %u kB, %s of %s at %.3f us, tail_eighths %u", w.planes,
                  w.t1, counted(w.hosts_per_t0, "host").c_str(), w.pattern, w.bytes / 1000, w.fault,
                  w.target.c_str(), w.at_ns / 1e3, w.tail_eighths);
    return text;
  }

  Prng prng_;
};

std::string scenario_of(const FaultWorld& w, std::uint64_t seed, bool planted) {
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  std::string targets = quoted(w.target);
  for (std::uint32_t p = 0; planted && p < w.planes; ++p) targets += ", " + quoted("p" + std::to_string(p));
  return "name = " + quoted("fault storm, seed " + std::to_string(seed)) +
         "\ndescription = " + quoted(w.words) + "\nseed = " + std::to_string(seed & INT64_MAX) +
         "\n\n[topology]\nplanes = " + std::to_string(w.planes) + "\nt0 = " + std::to_string(kT0) +
         "\nt1 = " + std::to_string(w.t1) + "\nhosts_per_t0 = " + std::to_string(w.hosts_per_t0) +
         "\nrate = \"400G\"\ndelay = \"1us\"\n\n[transport]\ntail_eighths = " +
         std::to_string(w.tail_eighths) +
         "\n\n[limits]\ntime = \"100ms\"\n\n[[job]]\nkind = " + quoted(w.pattern) +
         "\nbytes = " + std::to_string(w.bytes) + "\n\n[[fault]]\nkind = " + quoted(w.fault) +
         "\ntargets = [" + targets + "]\nat = " + quoted(std::to_string(w.at_ns) + "ns") + "\n";
}

Outcome run_once(const Scenario& scenario) {
  auto prepared = prepare(scenario);
  MRC_CHECK(prepared);
  return run(scenario, *prepared, {});
}

/// Until every message was received and acknowledged; never, when one was not.
Ps end_of(const Outcome& o) {
  Ps end = 0;
  for (const Flow& f : o.flows) end = std::max({end, f.received, f.acknowledged});
  return end;
}

std::uint64_t digest(const Outcome& o) {
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a, by words
  const auto add = [&](auto v) { sum = (sum ^ static_cast<std::uint64_t>(v)) * 0x100000001b3; };
  for (const Flow& f : o.flows) add(f.start), add(f.received), add(f.acknowledged), add(f.failed);
  add(o.summary.packets.packets);
  return sum;
}

std::string in_us(Ps time) { return std::to_string(std::llround(sim::microseconds(time))) + " us"; }

/// What is wrong with a run of this scenario, or nothing.
std::string judge(Scenario scenario, const Outcome& o, Ps patience) {
  const Ps end = end_of(o);
  if (o.summary.failed > 0)
    return std::to_string(o.summary.failed) + " of " + std::to_string(o.summary.flows) + " messages failed";
  if (!o.unfinished.empty()) return "not done after " + in_us(o.ended) + ": " + o.unfinished;
  if (end == sim::kNeverPs) return "a message was never received, or never acknowledged";
  if (end <= patience) return "";  // whatever it takes without the fault
  scenario.faults.clear();
  const Ps alone = end_of(run_once(scenario));
  if (end <= alone + patience) return "";
  return "ended after " + in_us(end) + ", without the fault after " + in_us(alone);
}

}  // namespace

std::string fault_storm_scenario(std::uint64_t seed, bool planted) {
  return scenario_of(Maker(seed).make(), seed, planted);
}

FaultStormOutcome run_fault_storm(std::uint64_t seed, const FaultStormSettings& settings) {
  const auto document = Document::parse(fault_storm_scenario(seed, settings.planted), "storm");
  MRC_CHECK(document);
  auto scenario = document->scenario();
  MRC_CHECK(scenario);
  scenario->world.threads = settings.threads;
  const Outcome o = run_once(*scenario);
  FaultStormOutcome out{.trace = digest(o),
                        .messages = o.summary.flows,
                        .failed = o.summary.failed,
                        .packets = o.summary.packets.packets,
                        .repairs = o.summary.packets.repairs,
                        .took = std::min(end_of(o), o.ended)};
  out.broken = judge(*scenario, o, settings.patience);
  if (!out.broken.empty()) out.broken += "; " + scenario->description;
  return out;
}

}  // namespace mrc::scenario
