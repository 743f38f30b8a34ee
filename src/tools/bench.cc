// `mrc bench recovery`: what the engine promises about loss and failure, measured in virtual time.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "engine/congestion_profile.h"
#include "pair/recovery.h"
#include "tools/commands.h"

namespace mrc::tools {
namespace {

struct Options {
  int seeds = 20;
  bool json = false, nscc = false;
};

/// Default NSCC for the harness's network: 800 Gb/s, an RTT of 10 us.
pair::MakeCongestion nscc() {
  return [] {
    const auto profile = engine::CcProfile::defaults({.bits_per_second = 800'000'000'000, .base_rtt = 11us});
    return std::move(*engine::make_congestion(profile));
  };
}

void print_json(const pair::RecoveryRow& r) {
  JsonWriter json;
  json.begin_object().field("case", r.name).field("target", r.target).field("unit", r.unit);
  json.field("median", r.median).field("low", r.low).field("high", r.high).field("met", r.met).end_object();
  std::printf("%s\n", json.text().c_str());
}

void print_line(const pair::RecoveryRow& r) {
  std::printf("%-42s %-33s %9.2f  %9.2f .. %-9.2f %-8s %s\n", r.name.c_str(), r.target.c_str(), r.median,
              r.low, r.high, r.unit.c_str(), r.met ? "met" : "MISSED");
  std::fflush(stdout);
}

int recovery(const Options& o) {
  if (!o.json) std::printf("%-42s %-33s %9s  %s\n", "case", "target", "median", "spread over seeds");
  bool all = true;
  pair::measure_recovery(o.seeds, o.nscc ? nscc() : pair::MakeCongestion{}, [&](const pair::RecoveryRow& r) {
    o.json ? print_json(r) : print_line(r);
    std::fflush(stdout);  // each takes seconds: whoever waits sees them come
    all = all && r.met;
  });
  return all ? 0 : 1;
}

}  // namespace

Run bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* what = app.add_subcommand("recovery", "loss, dead paths and planes: how fast the engine recovers");
  what->add_option("--seeds", o->seeds, "runs of each case")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  what->add_flag("--nscc", o->nscc, "NSCC instead of a fixed window in the cases of uniform loss");
  what->add_flag("--json", o->json, "one JSON object per case");
  what->footer("Example: mrc bench recovery --seeds 5 --json");
  app.require_subcommand(1);
  app.footer("Example: mrc bench recovery --seeds 5 --json");
  return [o] { return recovery(*o); };
}

}  // namespace mrc::tools
