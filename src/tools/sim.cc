// `mrc sim`: a fabric of any size, its NICs and its traffic, in simulated time.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/cm_workload.h"
#include "sim/summary.h"
#include "sim/topo_file.h"
#include "sim/trace.h"
#include "tools/commands.h"

namespace mrc::tools {
namespace {

struct SimOptions {
  std::string cm, topo;
  sim::WorldSettings world;
  std::uint32_t planes = 1;
  bool json = false;
  bool no_trim = false;
};

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc sim: %s\n", sentence.c_str());
  return 1;
}

int simulate(SimOptions& o) {
  auto cm = sim::read_cm(o.cm);
  if (!cm) return fail(cm.error().what);
  auto file = sim::read_topo(o.topo);
  if (!file) return fail(file.error().what);
  file->spec.planes = o.planes;
  const auto topology = topo::Topology::make(file->spec);
  if (!topology) return fail(topology.error().what);
  if (cm->nodes > topology->hosts()) return fail(o.cm + " has more nodes than " + o.topo);
  o.world.queues.trim = !o.no_trim;
  sim::CmWorkload load(std::move(*cm));
  sim::TraceSink trace(stderr);
  o.world.hosts.sink = &trace;
  sim::World world(*topology, o.world, load);
  world.run();
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
  const std::string unfinished = load.unfinished();
  return unfinished.empty() ? 0 : fail(unfinished);
}

}  // namespace

Run sim(CLI::App& app) {
  sim::cost_so_far();  // the clock starts here
  auto o = std::make_shared<SimOptions>();
  app.add_option("--cm", o->cm, "traffic matrix of htsim")->required();
  app.add_option("--topo", o->topo, "topology of htsim")->required();
  app.add_option("--planes", o->planes, "planes, each as the topology says")->capture_default_str();
  app.add_option("--evs", o->world.hosts.evs, "EVs per QP")->capture_default_str();
  app.add_option("--pmtu", o->world.hosts.path_mtu, "payload bytes per packet")->capture_default_str();
  app.add_option("--seed", o->world.hosts.seed, "one seed, one result")->capture_default_str();
  app.add_option("--threads", o->world.threads, "threads")->capture_default_str();
  app.add_option("--queue-bdp", o->world.queues.data_bdp, "room for data at a port, in BDPs")
      ->capture_default_str();
  app.add_flag("--no-trim", o->no_trim, "switches drop instead of trimming");
  app.add_option("--trace", o->world.hosts.traced, "a host whose engine tells what it does, on stderr");
  app.add_flag("--json", o->json, "one JSON object");
  app.footer("Example: mrc sim --cm perm_128.cm --topo ls_128.topo --json");
  return [o] { return simulate(*o); };
}

}  // namespace mrc::tools
