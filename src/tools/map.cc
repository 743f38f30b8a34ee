// `mrc map`: which link or switch is broken, how much each link loses and how long it takes.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "map/this_node.h"
#include "tools/commands.h"
#include "tools/map_report.h"
#include "tools/progress_line.h"
#include "tools/real_range.h"
#include "tools/topology_options.h"

namespace mrc::tools {
namespace {

volatile std::sig_atomic_t g_stop = 0;

struct MapOptions {
  std::string lab = "lab", host;
  double seconds = 3;
  bool watch = false, json = false, links = false;
  map::Settings settings;
  double period_ms = 0;  // 0: as the time allows
};

/// So many probes of each link tell a link that loses from one that does not: they leave more often where the
/// time is short.
constexpr double kProbes = 100;

Duration period_of(const MapOptions& o) {
  if (o.period_ms > 0) return Duration(static_cast<std::int64_t>(o.period_ms * 1e6));
  const map::Settings usual;
  const Duration spread(static_cast<std::int64_t>(o.seconds * 1e9 / kProbes));
  return std::clamp(spread, usual.fast_period, usual.period);
}

/// When to end: after the time asked for, and, while something is suspected, as soon as it is decided.
class End {
 public:
  explicit End(const MapOptions& o)
      : at_(map::Mapper::now() + Duration(static_cast<std::int64_t>(o.seconds * 1e9))),
        at_latest_(at_ + o.settings.settle_lossy + 1s) {}
  bool reached(const map::Survey& survey) const {
    const Time now = map::Mapper::now();
    return g_stop != 0 || now >= at_latest_ || (now >= at_ && survey.suspects().empty());
  }
  /// The next time to ask, if nothing happens before.
  Time next() const { return map::Mapper::now() < at_ ? at_ : at_latest_; }

 private:
  Time at_, at_latest_;
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
  const End end(o);
  map::Survey survey(*topo, o.settings);
  Display display(o, *topo, survey, began);
  const auto before = nodes->reports();
  if (o.watch)
    std::printf(o.json ? "{\"event\":\"started\"}\n" : "mapping; Ctrl-C ends it\n"), std::fflush(stdout);
  while (!end.reached(survey) && nodes->problem().empty()) {
    nodes->wait(end.next(), survey);
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
  if (auto here = map::check_this_node(topo, map::HostId(node->index)); !here) return failed(here.error());
  auto mapper = map::Mapper::open(topo, map::HostId(node->index), o.settings);
  if (!mapper) return failed(mapper.error());
  const Time began = map::Mapper::now();
  const End end(o);
  Display display(o, topo, (*mapper)->survey(), began);
  while (!end.reached((*mapper)->survey())) {
    run_mapper_once(**mapper, end.next());
    display.events();
  }
  display.end({node_report(**mapper)}, map::Mapper::now() - began);
  return 0;
}

int run_map(MapOptions& o, const TopologyOptions& fabric) {
  if (o.watch && o.seconds <= 0) o.seconds = 1e9;
  o.settings.period = period_of(o);
  o.settings.seldom_period = 3 * o.settings.period;
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
  app.add_option("--seconds", o->seconds,
                 "how long, and up to 2 s more while something is not certain; 0 with --watch: until Ctrl-C")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.add_flag("--watch", o->watch, "print what is found and what is healed as it happens");
  app.add_flag("--links", o->links, "print all links, not only those that lose");
  app.add_flag("--json", o->json, "one JSON object; with --watch one line per event before it");
  app.add_option("--period", o->period_ms,
                 "milliseconds between two probes of a link by one node; without it 33, less in a short time")
      ->check(real_range(1.0, 60000.0));
  auto fabric = add_topology_options(app);
  app.footer("Example: mrc map --seconds 2   (in a lab: mrc lab up; mrc lab fail p0.t0.0-p0.t1.1 --silent)");
  return [o, fabric] { return run_map(*o, *fabric); };
}

}  // namespace mrc::tools
