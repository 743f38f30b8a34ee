// `mrc map`: which link or switch is broken, how much each link loses and how long it takes.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tools/commands.h"
#include "tools/map_report.h"
#include "tools/progress_line.h"
#include "tools/topology_options.h"

namespace mrc::tools {
namespace {

volatile std::sig_atomic_t g_stop = 0;

struct MapOptions {
  std::string lab = "lab", host;
  double seconds = 3;
  bool watch = false, json = false, links = false;
  map::Settings settings;
  double period_ms = static_cast<double>(map::Settings{}.period.count()) * 1e-6;
};

int failed(const Error& error) {
  std::fprintf(stderr, "mrc map: %s\n", error.what.c_str());
  return 1;
}

/// Prints what is new, and the tables again where a person watches.
class Display {
 public:
  Display(const MapOptions& o, const topo::Topology& topo, const map::Survey& survey, Time began)
      : o_(o), picture_{topo, survey, {}, {}, began}, progress_(!o.watch) {}

  void events() {
    const auto& survey = picture_.survey;
    const std::uint64_t fresh = std::min<std::uint64_t>(survey.events() - seen_, survey.history().size());
    seen_ = survey.events();
    const auto gone = (map::Mapper::now() - picture_.began) / 1s;
    progress_.show("mapping, " + std::to_string(gone) + " of " +
                   std::to_string(static_cast<int>(o_.seconds)) + " s");
    if (!o_.watch) return;
    for (std::size_t i = survey.history().size() - fresh; i < survey.history().size(); ++i) {
      const map::Event& e = survey.history()[i];
      std::printf("%s\n", (o_.json ? event_json(picture_, e) : event_line(picture_, e)).c_str());
    }
    if (fresh > 0) std::fflush(stdout);
  }
  void end(const std::vector<NodeReport>& nodes, Duration ran) {
    progress_.clear();
    picture_.nodes = nodes;
    picture_.ran = ran;
    std::printf("%s", (o_.json ? map_json(picture_) + "\n" : map_text(picture_, o_.links)).c_str());
    std::fflush(stdout);
  }

 private:
  const MapOptions& o_;
  MapPicture picture_;
  ProgressLine progress_;
  std::uint64_t seen_ = 0;
};

int map_lab(const MapOptions& o) {
  auto lab = lab::Lab::find(o.lab);
  if (!lab) return failed(lab.error());
  const auto toml = lab->topology();
  if (!toml) return failed(toml.error());
  const auto spec = topo::parse_spec(*toml, "the lab");
  if (!spec) return failed(spec.error());
  const auto topo = topo::Topology::make(*spec);
  if (!topo) return failed(topo.error());
  auto nodes = MapNodes::start(*lab, *topo, o.settings);
  if (!nodes) return failed(nodes.error());
  const Time began = map::Mapper::now();
  const Time end = began + Duration(static_cast<std::int64_t>(o.seconds * 1e9));
  map::Survey survey(*topo, o.settings);
  Display display(o, *topo, survey, began);
  const auto before = nodes->reports();
  if (o.watch)
    std::printf(o.json ? "{\"event\":\"started\"}\n" : "mapping; Ctrl-C ends it\n"), std::fflush(stdout);
  while (g_stop == 0 && map::Mapper::now() < end && nodes->problem().empty()) {
    nodes->wait(end, survey);
    survey.advance(map::Mapper::now());
    display.events();
  }
  if (!nodes->problem().empty()) return failed({EIO, nodes->problem()});
  auto reports = nodes->reports();
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].cpu -= before[i].cpu;
  display.end(reports, map::Mapper::now() - began);
  return 0;
}

int map_here(const MapOptions& o, const topo::Topology& topo) {
  const auto node = topo.find_node(o.host);
  if (!node || node->tier != topo::Tier::host)
    return failed({EINVAL, "there is no host '" + o.host + "' in this fabric; hosts are h0, h1, ..."});
  auto mapper = map::Mapper::open(topo, map::HostId(node->index), o.settings);
  if (!mapper) return failed(mapper.error());
  const Time began = map::Mapper::now();
  const Time end = began + Duration(static_cast<std::int64_t>(o.seconds * 1e9));
  Display display(o, topo, (*mapper)->survey(), began);
  while (g_stop == 0 && map::Mapper::now() < end) {
    run_mapper_once(**mapper, end);
    display.events();
  }
  display.end({node_report(**mapper)}, map::Mapper::now() - began);
  return 0;
}

int run_map(MapOptions& o, const TopologyOptions& fabric) {
  o.settings.period = Duration(static_cast<std::int64_t>(o.period_ms * 1e6));
  if (o.watch && o.seconds <= 0) o.seconds = 1e9;
  struct sigaction stop {};
  stop.sa_handler = [](int) { g_stop = 1; };
  ::sigaction(SIGINT, &stop, nullptr);
  ::sigaction(SIGTERM, &stop, nullptr);
  if (o.host.empty()) return map_lab(o);
  const auto topo = fabric.make();
  return topo ? map_here(o, *topo) : failed(topo.error());
}

}  // namespace

Run map(CLI::App& app) {
  auto o = std::make_shared<MapOptions>();
  app.add_option("--lab", o->lab, "the lab whose hosts map it, all together")->capture_default_str();
  app.add_option("--host", o->host, "map from this node alone, which is this host of the fabric given below");
  app.add_option("--seconds", o->seconds, "how long; 0 with --watch: until Ctrl-C")->capture_default_str();
  app.add_flag("--watch", o->watch, "print what is found and what is healed as it happens");
  app.add_flag("--links", o->links, "print all links, not only those that lose");
  app.add_flag("--json", o->json, "one JSON object; with --watch one line per event before it");
  app.add_option("--period", o->period_ms, "milliseconds between two probes of a link by one node")
      ->check(CLI::Range(1.0, 60000.0))
      ->capture_default_str();
  auto fabric = add_topology_options(app);
  app.footer("Example: mrc map --seconds 2   (in a lab: mrc lab up; mrc lab fail p0.t0.0-p0.t1.1 --silent)");
  return [o, fabric] { return run_map(*o, *fabric); };
}

}  // namespace mrc::tools
