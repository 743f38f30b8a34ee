// `mrc lab run`: the main demonstration. Two hosts, planes of T0s and T1s, one QP, and faults of each kind.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/lab_picture.h"
#include "tools/lab_record.h"
#include "tools/lab_story.h"
#include "tools/lab_verbs.h"
#include "tools/real_range.h"

namespace mrc::tools {
namespace {

constexpr int kForbidden = 77;  // the convention for "skipped": whoever called may show something else

struct RunOptions {
  std::uint32_t planes = 4, t1 = 2;
  double seconds = 3;
  std::string rate, switches = "kernel", record;
  bool json = false, healthy = false;
};

Result<topo::Topology> make_fabric(const RunOptions& o) {
  topo::Spec spec{.planes = o.planes, .tiers = 2, .t0 = 2, .t1 = o.t1, .hosts_per_t0 = 1};
  if (!o.rate.empty()) {
    const auto rate = topo::parse_rate(o.rate);
    if (!rate) return rate.error();
    spec.host_link.bits_per_second = *rate;
  }
  return topo::Topology::make(spec);
}

/// A lab that is looked at has a name, and a mrcd on each host.
Result<std::unique_ptr<LabRecorder>> begin_recording(lab::Lab& lab, const topo::Topology& fabric,
                                                     const std::string& name, const std::string& file) {
  if (file.empty()) return std::unique_ptr<LabRecorder>();
  if (auto started = start_daemons(lab, fabric.hosts()); !started) return started.error();
  return LabRecorder::start(name, file);
}

int run(const RunOptions& o) {
  const auto fabric = make_fabric(o);
  if (!fabric) return lab_failed(fabric.error());
  lab::LabSettings settings;
  settings.wiring.soft = soft_tiers(o.switches);
  if (!o.record.empty()) settings.name = "run-" + std::to_string(::getpid());
  auto lab = lab::Lab::start(*fabric, settings);
  if (!lab) return lab_failed(lab.error()), lab::is_forbidden(lab.error()) ? kForbidden : 1;
  auto recorder = begin_recording(*lab, *fabric, settings.name, o.record);
  if (!recorder) return lab_failed(recorder.error());
  auto phases = usual_story(o.seconds);
  if (o.healthy) phases.erase(phases.begin() + 1, phases.end());
  LabPicture picture(phases);
  const auto result =
      run_story(*lab, {{"h0", "h1"}}, phases, [&](std::size_t phase, double s, const BulkSample& b) {
        if (!o.json) picture.draw(phase, s, b);
      });
  if (!result) return lab_failed(result.error());
  if (*recorder) {
    if (auto recorded = (*recorder)->finish(); !recorded) return lab_failed(recorded.error());
  }
  o.json ? static_cast<void>(std::printf("%s\n", summary_json(*result).c_str())) : print_summary(*result);
  return result->flawless() ? 0 : 1;
}

}  // namespace

Run lab_run_verb(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("--planes", o->planes, "planes")->check(CLI::Range(4, kMaxPlanes))->capture_default_str();
  app.add_option("--t1", o->t1, "T1 switches per plane")->check(CLI::Range(2, 8))->capture_default_str();
  app.add_option("--seconds", o->seconds, "each phase")->check(real_range(0.2, 600.0))->capture_default_str();
  app.add_option("--rate", o->rate, "of NIC ports, such as 1G; without it as fast as the machine is");
  add_switch_option(app, o->switches);
  app.add_option("--record", o->record, "write what the lab does to a file, for mrc web --trace")
      ->type_name("FILE");
  app.add_flag("--healthy", o->healthy, "break nothing: the first phase alone");
  app.add_flag("--json", o->json, "one JSON object at the end instead of the picture");
  app.footer("Example: mrc lab run --seconds 2");
  return [o] { return run(*o); };
}

}  // namespace mrc::tools
