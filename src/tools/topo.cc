// `mrc topo`: a fabric described, checked, drawn, compared, followed path by path, and written as
// configuration.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "base/counted.h"
#include "base/json.h"
#include "tools/commands.h"
#include "tools/topo_verbs.h"
#include "tools/topology_options.h"
#include "tools/verb_set.h"
#include "topo/draw.h"

namespace mrc::tools {
namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc topo: %s\n", sentence.c_str());
  return 1;
}

/// A verb that works on one fabric: the options that say which, and what is done with it.
template <class Act>
Run on_fabric(std::shared_ptr<TopologyOptions> options, Act act) {
  return [options, act] {
    const auto fabric = options->make();
    if (!fabric) return fail(fabric.error().what);
    const auto done = act(*fabric);
    return done ? 0 : fail(done.error().what);
  };
}

Run describe_verb(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object");
  app.footer("Example: mrc topo describe --planes 8 --t0 512 --t1 256 --hosts-per-t0 256 --radix 512");
  return on_fabric(add_topology_options(app),
                   [json](const topo::Topology& t) { return print_description(t, *json); });
}

Run check_verb(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object");
  app.footer("Example: mrc topo check -f fabric.toml");
  return on_fabric(add_topology_options(app), [json](const topo::Topology& t) -> Status {
    if (*json) {
      JsonWriter out;
      out.begin_object().field("hosts", t.hosts()).field("switches", t.switches()).field("links", t.links());
      out.field("ev_bits", t.path_bits()).field("usids_per_carrier", t.usids_per_carrier()).end_object();
      std::printf("%s\n", out.text().c_str());
      return Done{};
    }
    std::printf("fits: %s, %s, %s, %s, %s per carrier\n", counted(t.hosts(), "host").c_str(),
                counted(t.switches(), "switch").c_str(), counted(t.links(), "link").c_str(),
                counted(static_cast<unsigned>(t.path_bits()), "EV bit").c_str(),
                counted(static_cast<unsigned>(t.usids_per_carrier()), "uSID").c_str());
    return Done{};
  });
}

Run draw_verb(CLI::App& app) {
  auto settings = std::make_shared<topo::DrawSettings>();
  app.add_option("--per-row", settings->max_per_row, "nodes drawn of a tier")->capture_default_str();
  app.footer("Example: mrc topo draw --planes 2 --t0 4 --t1 4 --hosts-per-t0 2 > fabric.svg");
  return on_fabric(add_topology_options(app), [settings](const topo::Topology& t) -> Status {
    std::fputs(topo::draw_svg(t, *settings).c_str(), stdout);
    return Done{};
  });
}

Run path_verb(CLI::App& app) {
  auto q = std::make_shared<PathQuery>();
  app.add_option("--from", q->from, "source host, such as h0")->required();
  app.add_option("--to", q->to, "destination host")->required();
  auto* ev = app.add_option("--ev", q->ev, "this EV only, such as 0xc003");
  app.add_option("--carrier", q->carrier, "the path that this uSID carrier leads along")->excludes(ev);
  app.add_option("--limit", q->limit, "paths printed at most")->capture_default_str();
  app.add_flag("--json", q->json, "one JSON object per path");
  app.footer("Example: mrc topo path --planes 4 --t0 2 --t1 2 --from h0 --to h3 --ev 0xc001");
  return on_fabric(add_topology_options(app), [q](const topo::Topology& t) { return print_paths(t, *q); });
}

Run touched_verb(CLI::App& app) {
  auto q = std::make_shared<TouchedQuery>();
  app.add_option("name", q->name, "a link (p0.t0.1-p0.t1.0, h3-p0.t0.1) or a switch (p0.t1.0)")->required();
  app.add_option("--from", q->from, "only for this source")
      ->needs(app.add_option("--to", q->to, "and this destination"));
  app.add_flag("--json", q->json, "one JSON object");
  app.footer("Example: mrc topo touched p0.t0.1-p0.t1.0 --planes 4 --t0 2 --t1 2 --from h0 --to h3");
  return on_fabric(add_topology_options(app), [q](const topo::Topology& t) { return print_touched(t, *q); });
}

Run emit_verb(CLI::App& app) {
  auto q = std::make_shared<EmitQuery>();
  app.add_option("--format", q->format, "iproute2, netlink, frr, sonic or profiles")
      ->required()
      ->check(CLI::IsMember({"iproute2", "netlink", "frr", "sonic", "profiles"}));
  app.add_option("--node", q->node, "one node, to standard output");
  app.add_option("--out", q->directory, "all nodes, one file each, into this directory");
  app.add_option("--to", q->to, "profiles: to this host only");
  app.add_option("--slow", q->slow,
                 "profiles: a link or switch at part of its speed, as p0.t1.3=0.25; the others' EVs stand "
                 "there more often");
  app.add_option("--per-plane", q->per_plane, "profiles: EVs of each plane")->capture_default_str();
  app.add_option("--lanes", q->lanes, "sonic: lanes per port, so that ports are Ethernet<port * lanes>")
      ->capture_default_str();
  app.add_flag("--apply", q->apply, "netlink: send it to this machine's kernel instead of printing it");
  app.footer("Example: mrc topo emit --format sonic --planes 4 --t0 2 --t1 2 --node p0.t0.0");
  return on_fabric(add_topology_options(app), [q](const topo::Topology& t) { return emit(t, *q); });
}

Run compare_verb(CLI::App& app) {
  auto q = std::make_shared<CompareQuery>();
  app.add_option("--switch-ports", q->switch_ports, "ports of a switch at the NIC's whole rate")
      ->capture_default_str();
  app.add_option("--nic", q->nic, "rate of a NIC, all planes")->capture_default_str();
  app.add_option("--planes", q->planes, "planes of the two-tier fabric")->capture_default_str();
  app.add_option("--against", q->files, "compare these two topology files instead")->expected(2);
  app.add_flag("--json", q->json, "one JSON object");
  app.footer("Example: mrc topo compare --planes 8 --switch-ports 64 --nic 800G");
  return [q] {
    const auto done = print_comparison(*q);
    return done ? 0 : fail(done.error().what);
  };
}

}  // namespace

Run topo(CLI::App& app) {
  app.footer("Example: mrc topo describe --planes 4 --t0 2 --t1 2 --hosts-per-t0 2");
  return add_verbs(app, {{"describe", "sizes, rates, addresses, uSIDs and EVs", describe_verb},
                         {"check", "whether it can be built and named", check_verb},
                         {"draw", "an SVG picture", draw_verb},
                         {"path", "EV, switches, links and carrier of paths between two hosts", path_verb},
                         {"touched", "the EVs that a link or switch touches", touched_verb},
                         {"emit", "configuration for Linux, FRR, SONiC, and EV profiles", emit_verb},
                         {"compare", "planes of two tiers against one plane of three", compare_verb}});
}

}  // namespace mrc::tools
