// `mrc sim`: a fabric of any size, its NICs and its traffic, in simulated time.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "sim/cm_workload.h"
#include "sim/job.h"
#include "sim/pattern.h"
#include "sim/ranks.h"
#include "sim/summary.h"
#include "sim/topo_file.h"
#include "sim/trace.h"
#include "tools/commands.h"
#include "tools/sim_paper.h"
#include "tools/sim_scenario.h"
#include "tools/topology_options.h"

namespace mrc::tools {
namespace {

struct SimOptions {
  std::string cm, topo, pattern;
  std::shared_ptr<TopologyOptions> fabric;
  sim::Pattern load;
  sim::WorldSettings world;
  bool json = false;
  bool no_trim = false;
  ScenarioOptions scenario;
  bool quiet = false, progress = false;
};

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc sim: %s\n", sentence.c_str());
  return 1;
}

Result<topo::Topology> make_fabric(const SimOptions& o) {
  if (o.topo.empty()) return o.fabric->make();
  auto file = sim::read_topo(o.topo);
  if (!file) return file.error();
  file->spec.planes = o.fabric->planes.value_or(1);
  return topo::Topology::make(file->spec);
}

Result<std::unique_ptr<sim::Workload>> make_load(SimOptions& o, const topo::Topology& topology) {
  if (!o.cm.empty()) {
    auto cm = sim::read_cm(o.cm);
    if (!cm) return cm.error();
    if (cm->nodes > topology.hosts())
      return Error{EINVAL, o.cm + " has more nodes than the fabric has hosts"};
    return std::unique_ptr<sim::Workload>(std::make_unique<sim::CmWorkload>(std::move(*cm)));
  }
  if (o.pattern.empty()) return Error{EINVAL, "no traffic; give --pattern NAME or --cm FILE"};
  const auto kind = sim::pattern_named(o.pattern);
  if (!kind) return kind.error();
  o.load.kind = *kind;
  if (o.load.ranks == 0) o.load.ranks = topology.hosts();
  if (o.load.ranks > topology.hosts())
    return Error{EINVAL, "more ranks than hosts; lower --ranks or enlarge the fabric"};
  auto program = sim::make_program(o.load);
  if (!program) return program.error();
  sim::Placement placement;
  for (sim::Host h = 0; h < o.load.ranks; ++h) placement.host_of.push_back(h);
  return std::unique_ptr<sim::Workload>(
      std::make_unique<sim::Job>(0, std::move(*program), std::move(placement), topology.hosts()));
}

int simulate(SimOptions& o) {
  const auto ranks = sim::started_by_mpirun() ? sim::join_ranks() : std::unique_ptr<sim::Ranks>();
  if (!ranks) return fail(ranks.error().what);
  o.world.ranks = ranks->get();
  const auto topology = make_fabric(o);
  if (!topology) return fail(topology.error().what);
  auto load = make_load(o, *topology);
  if (!load) return fail(load.error().what);
  o.world.queues.trim = !o.no_trim;
  sim::TraceSink trace(stderr);
  o.world.hosts.sink = &trace;
  sim::World world(*topology, o.world, **load);
  world.run();
  if (!world.gather()) return 0;  // rank 0 speaks for all
  const auto summary = sim::summarise(world, world.flows(), sim::cost_so_far());
  if (o.json) {
    JsonWriter json;
    json.begin_object();
    sim::write_json(summary, json);
    json.end_object();
    std::printf("%s\n", json.text().c_str());
  } else {
    std::fputs(sim::text(summary).c_str(), stdout);
  }
  // Under mpirun a rank knows its own part of the program only.
  if (o.world.ranks != nullptr) return summary.unfinished == 0 ? 0 : fail("not all messages arrived");
  const std::string unfinished = (*load)->unfinished();
  return unfinished.empty() ? 0 : fail(unfinished);
}

/// With a scenario, what it says is changed in one way only.
std::string meaningless_option(const CLI::App& app) {
  const std::set<std::string> meant = {"scenario",  "--set",         "--json",   "--json-file", "--flows",
                                       "--series",  "--links",       "--report", "--progress",  "--quiet",
                                       "--threads", "--seed",        "--trace",  "--table",     "--processes",
                                       "--record",  "--record-every"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !meant.contains(option->get_name())) return option->get_name();
  }
  return "";
}

void add_scenario_options(CLI::App& app, SimOptions& o) {
  const char* group = "Scenario";
  app.add_option("scenario", o.scenario.file, "a scenario, as docs/simulator.md describes it")->group(group);
  app.add_option("--set", o.scenario.settings, "change a value of the scenario: job.0.bytes=1000000")
      ->group(group)
      ->allow_extra_args(false);
  scenario::Outputs& out = o.scenario.outputs;
  app.add_option("--json-file", out.json, "the summary as JSON")->group(group);
  app.add_option("--flows", out.flows, "CSV, a row per message")->group(group);
  app.add_option("--series", out.series, "CSV, a row per moment")->group(group);
  app.add_option("--links", out.links, "CSV, a row per direction of a link")->group(group);
  app.add_option("--report", out.report, "one HTML page with plots")->group(group);
  app.add_option("--record", o.scenario.record, "frames for `mrc web --trace` and `mrc top --trace`")
      ->group(group);
  app.add_option("--record-every", o.scenario.record_every, "simulated time between two frames")
      ->group(group)
      ->capture_default_str();
  app.add_option("--table", out.table, "CSV, a row per point of a sweep")->group(group);
  app.add_option("--processes", o.scenario.at_once, "points of a sweep at a time; 0: one per processor")
      ->group(group);
  app.add_flag("--progress", o.progress, "one JSON object per second on stderr while it runs")->group(group);
  app.add_flag("--quiet", o.quiet, "no progress")->group(group)->excludes("--progress");
}

int run_scenario(const CLI::App& app, SimOptions& o) {
  if (const std::string name = meaningless_option(app); !name.empty())
    return fail(name + " does not go with a scenario; change it with --set PATH=VALUE");
  for (const char* shared : {"--threads", "--seed"}) {
    if (app.count(shared) > 0)
      o.scenario.settings.push_back(std::string(shared + 2) + "=" + app.get_option(shared)->results().back());
  }
  o.scenario.json = o.json;
  o.scenario.traced = o.world.hosts.traced;
  o.scenario.progress = o.quiet ? ProgressMode::off : o.progress ? ProgressMode::lines : default_progress();
  return simulate_scenario(o.scenario);
}

/// Takes the place of `mrc sim` itself when it is named.
std::function<int()> add_paper(CLI::App& app) {
  auto o = std::make_shared<PaperOptions>();
  CLI::App* paper = app.add_subcommand("paper", "the published results R1 to R15, run here and compared");
  paper->add_flag("--quick", o->quick, "small sizes: seconds instead of minutes");
  paper->add_option("--only", o->only, "some of them: R9 R14");
  paper->add_option("--report", o->report, "one HTML page");
  paper->add_option("--processes", o->at_once, "runs at a time; 0: one per processor");
  paper->add_flag("--no-baseline", o->no_baseline, "without RoCEv2");
  paper->add_flag("--progress", o->progress, "say on stderr which runs have ended");
  paper->add_flag("--json", o->json, "a JSON array");
  paper->footer("Example: mrc sim paper --quick --report paper.html");
  return [o, paper] { return paper->parsed() ? simulate_paper(*o) : -1; };
}

/// Baselines, and MRC with parts switched off.
void add_transport_options(CLI::App& app, sim::HostSettings& h) {
  const char* group = "Transport";
  app.add_option_function<std::string>(
         "--transport",
         [&h](const std::string& name) {
           h.transport = name == "roce" ? sim::Transport::roce : sim::Transport::mrc;
         },
         "mrc, or the baseline roce: RoCEv2 with ECMP, go-back-N, DCQCN, PFC")
      ->check(CLI::IsMember({"mrc", "roce"}))
      ->group(group);
  app.add_option("--roce-qps", h.roce.qps, "QPs that a message is spread over")
      ->group(group)
      ->check(CLI::Range(1, 1024));
  app.add_flag("!--no-pfc", h.roce.pfc, "switches drop instead of pausing")->group(group);
  app.add_flag("!--no-dcqcn", h.roce.dcqcn, "senders know no congestion control")->group(group);
  app.add_flag("!--no-ecn-skip", h.paths.skip_on_mark, "marks do not move packets to other EVs")
      ->group(group);
  app.add_flag("!--no-trim-skip", h.paths.skip_on_trim,
               "trims do not either: both together spray obliviously")
      ->group(group);
  app.add_option("--flowlet-ns", h.paths.flowlet_ns, "keep an EV until a pause of so many ns")->group(group);
  app.add_option("--hint", h.hints.remote_recv_peers, "senders per receiver, as the application would say")
      ->group(group);
  app.add_flag("--wire", h.wire, "packets travel as bytes, through the codec: the same results, slower")
      ->group(group);
}

}  // namespace

Run sim(CLI::App& app) {
  sim::cost_so_far();  // the clock starts here
  auto o = std::make_shared<SimOptions>();
  o->fabric = add_topology_options(app);
  o->load.ranks = 0;
  add_scenario_options(app, *o);
  auto* cm = app.add_option("--cm", o->cm, "traffic matrix of htsim");
  app.add_option("--pattern", o->pattern,
                 "traffic without a file: permutation, incast, pairwise, ring_allreduce, ...")
      ->excludes(cm);
  app.add_option("--ranks", o->load.ranks, "hosts that take part; 0: all")->capture_default_str();
  app.add_option("--bytes", o->load.bytes, "per rank: one message, or what a collective works on")
      ->capture_default_str();
  app.add_option("--iterations", o->load.iterations, "how often")->capture_default_str();
  app.add_option("--topo", o->topo, "topology of htsim, instead of the options of a fabric");
  app.add_option("--evs", o->world.hosts.evs, "EVs per QP")->capture_default_str();
  app.add_option("--pmtu", o->world.hosts.path_mtu, "payload bytes per packet")->capture_default_str();
  app.add_option("--seed", o->world.hosts.seed, "one seed, one result")->capture_default_str();
  app.add_option("--threads", o->world.threads, "threads")->capture_default_str();
  app.add_option("--queue-bdp", o->world.queues.data_bdp, "room for data at a port, in BDPs")
      ->capture_default_str();
  app.add_option("--ecn-low", o->world.queues.ecn_low, "marks begin at this part of the data room")
      ->capture_default_str();
  app.add_option("--ecn-high", o->world.queues.ecn_high, "and hit every frame at this part")
      ->capture_default_str();
  app.add_option("--sack-bytes", o->world.hosts.responder.sack_bytes, "a SACK at least every so many bytes")
      ->capture_default_str();
  app.add_option("--spray-unit", o->world.hosts.paths.spray_unit, "consecutive packets on one EV")
      ->default_str(std::to_string(o->world.hosts.paths.spray_unit));
  app.add_option("--trim-bytes", o->world.queues.trim_bytes, "what a trimmed frame keeps, on the wire")
      ->capture_default_str();
  app.add_flag("--no-trim", o->no_trim, "switches drop instead of trimming");
  add_transport_options(app, o->world.hosts);
  app.add_option("--trace", o->world.hosts.traced, "a host whose engine tells what it does, on stderr");
  app.add_flag("--json", o->json, "one JSON object");
  app.footer(
      "Example: mrc sim share/scenarios/permutation.toml --set job.0.bytes=4MB --flows flows.csv\n"
      "Example: mrc sim --pattern ring_allreduce --planes 4 --t0 4 --t1 4 --hosts-per-t0 8 --bytes 1000000\n"
      "Exit status with a scenario: 0 done, 1 not finished, 2 refused, 3 an expectation was missed");
  return [o, &app, paper = add_paper(app)] {
    if (const int status = paper(); status >= 0) return status;
    return o->scenario.file.empty() ? simulate(*o) : run_scenario(app, *o);
  };
}

}  // namespace mrc::tools
