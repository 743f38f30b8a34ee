// `mrc switch`: the fabric's switch on this machine's interfaces, with the trimming and ECN that kernels
// lack.
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "base/counted.h"
#include "lab/soft_nodes.h"
#include "lab/switch_loop.h"
#include "lab/switch_plan.h"
#include "tools/commands.h"
#include "tools/real_range.h"
#include "tools/size_option.h"
#include "tools/topology_options.h"
#include "tools/wire_options.h"

namespace mrc::tools {
namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc switch: %s\n", sentence.c_str());
  return 1;
}

struct RunOptions {
  std::shared_ptr<TopologyOptions> topology;
  std::string node, prefix;
  lab::SwitchTuning tuning;
  double seconds = 0;
  double spin_us = 20;
  bool no_ecn = false, no_trim = false, unlimited = false, mark_at_enqueue = false, stats = false;
};

void apply(RunOptions& o) {
  o.tuning.link.ecn = !o.no_ecn;
  o.tuning.link.trim = !o.no_trim;
  o.tuning.limit_rate = !o.unlimited;
  if (o.mark_at_enqueue) o.tuning.link.mark_at = fabric::MarkAt::enqueue;
}

Result<topo::Node> find_switch(const topo::Topology& t, const std::string& name) {
  const auto node = t.find_node(name);
  if (!node || node->tier == topo::Tier::host)
    return Error{ENOENT, "there is no switch " + name + " in this fabric; names look like p0.t0.0, p0.t1.0"};
  return *node;
}

Result<std::vector<lab::SoftPort>> open_ports(const topo::Topology& t, topo::Node node, const RunOptions& o) {
  std::vector<lab::SoftPort> ports;
  for (std::uint32_t p = 0; p < t.ports(node); ++p) {
    const auto peer = t.peer({node, p});
    if (!peer)
      return Error{EINVAL,
                   "port " + t.port_name({node, p}) + " has no host: fill the fabric, or lower hosts_per_t0"};
    auto port =
        lab::open_soft_port(o.prefix + t.port_name({node, p}), lab::link_settings(t, {node, p}, o.tuning),
                            {{t.mac(*peer)}, t.link_local(peer->node)});
    if (!port) return port.error();
    port->name = t.port_name({node, p});
    ports.push_back(std::move(*port));
  }
  return ports;
}

port::Fd stop_on_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return port::Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int run(RunOptions& o) {
  apply(o);
  if (o.tuning.link.trim_bytes > lab::kHeadBytes || o.tuning.link.trim_bytes < 14 + 124)
    return fail("--trim-bytes: 138 to " + std::to_string(lab::kHeadBytes) +
                " keep the headers that name the packet");
  const auto fabric = o.topology->make();
  if (!fabric) return fail(fabric.error().what);
  const auto node = find_switch(*fabric, o.node);
  if (!node) return fail(node.error().what);
  auto ports = open_ports(*fabric, *node, o);
  if (!ports) return fail(ports.error().what);
  auto control = lab::SwitchControl::open(lab::switch_control_name(o.node));
  if (!control) return fail(control.error().what + " (is this switch running already?)");
  const port::Fd stop = stop_on_signals();
  lab::SoftSwitch sw(lab::switch_settings(*fabric, *node, o.tuning), std::move(*ports));
  lab::LoopSettings loop{.spin = Duration(static_cast<std::int64_t>(o.spin_us * 1000))};
  if (o.seconds > 0) loop.run_for = Duration(static_cast<std::int64_t>(o.seconds * 1e9));
  std::printf("%s forwards on %s\n", o.node.c_str(), counted(sw.ports(), "port").c_str());
  std::fflush(stdout);
  lab::run_switch(sw, &*control, stop.get(), loop);
  if (o.stats) std::printf("%s\n", lab::stats_json(sw).c_str());
  return 0;
}

Run run_verb(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("--node", o->node, "which switch of the fabric this is, such as p0.t0.0")->required();
  app.add_option("--prefix", o->prefix, "interfaces are this and then d0, d1, ... u0, u1, ...");
  auto& link = o->tuning.link;
  add_size_option(app, "--queue", link.data_limit, "bytes of data that wait at a port")
      ->capture_default_str();
  add_size_option(app, "--control-queue", link.control_limit, "bytes of control and trimmed frames")
      ->capture_default_str();
  add_size_option(app, "--ecn-low", link.ecn_low, "depth in bytes below which nothing is marked")
      ->capture_default_str();
  add_size_option(app, "--ecn-high", link.ecn_high, "depth above which everything is")->capture_default_str();
  app.add_option("--ecn-probability", link.ecn_probability, "chance of a mark at --ecn-high")
      ->capture_default_str();
  add_size_option(app, "--trim-bytes", link.trim_bytes, "what is left of a trimmed frame")
      ->capture_default_str();
  app.add_flag("--mark-at-enqueue", o->mark_at_enqueue,
               "mark by the depth that a frame finds, not that it leaves");
  app.add_flag("--no-ecn", o->no_ecn, "never mark");
  app.add_flag("--no-trim", o->no_trim, "drop instead of trimming");
  app.add_flag("--unlimited", o->unlimited, "as fast as the interfaces go, not at the fabric's rates");
  app.add_option("--seed", o->tuning.seed, "of marks and losses")->capture_default_str();
  app.add_option("--seconds", o->seconds, "stop after this long")->check(real_range(0.0, 1e6));
  app.add_option("--spin-us", o->spin_us, "look for work this long before sleeping")->capture_default_str();
  app.add_flag("--json", o->stats, "print the counters, one JSON object, at the end");
  add_wire_options(app, o->tuning.wire);
  o->topology = add_topology_options(app);
  app.footer("Example: mrc switch run -f fabric.toml --node p0.t0.0 --queue 100000");
  return [o] { return run(*o); };
}

Run tell_verb(CLI::App& app) {
  struct Options {
    std::string node;
    std::vector<std::string> words;
  };
  auto o = std::make_shared<Options>();
  app.add_option("--node", o->node, "the switch")->required();
  app.add_option("words", o->words,
                 "state PORT up|down|black_hole, loss PORT P, rate PORT RATE|default, stats")
      ->required();
  app.footer("Example: mrc switch tell --node p0.t0.0 loss u1 0.2");
  return [o] {
    std::string line;
    for (const std::string& w : o->words) line += line.empty() ? w : " " + w;
    const auto answer = lab::tell_switch(lab::switch_control_name(o->node), line);
    if (!answer) return fail(answer.error().what);
    std::printf("%s\n", answer->c_str());
    return 0;
  };
}

}  // namespace

Run switch_noun(CLI::App& app) {
  CLI::App* run = app.add_subcommand("run", "forward until stopped");
  CLI::App* tell = app.add_subcommand("tell", "set a fault of a running switch, or read its counters");
  const Run do_run = run_verb(*run), do_tell = tell_verb(*tell);
  app.require_subcommand(1);
  app.footer("Example: mrc switch run --planes 1 --t0 2 --t1 2 --node p0.t0.0");
  return [run, do_run, do_tell] { return run->parsed() ? do_run() : do_tell(); };
}

}  // namespace mrc::tools
