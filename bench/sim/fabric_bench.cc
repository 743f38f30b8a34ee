// How fast the event core and the switches are by themselves: hosts that send at line rate and only count
// what arrives. This measures frames through queues; no transport is involved.
//
// Usage: fabric_bench HOSTS_PER_T0 T0S T1S GBPS FRAMES_PER_HOST THREADS
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "sim/crew.h"
#include "sim/pattern.h"
#include "sim/switch_node.h"

namespace mrc::sim {
namespace {

class Source {
 public:
  Source(const topo::Topology& topo, const LinkPlan& plan, topo::HostId self, topo::HostId to,
         std::uint32_t frames)
      : topo_(topo),
        link_(plan.host_up),
        wire_(wire_from(topo, {topo::host_node(self), 0})),
        self_(self),
        to_(to),
        left_(frames),
        random_(self.value) {}

  template <class Shard>
  Ps run(Shard& shard, Ps begin, Ps end, std::span<const Transit> arrivals) {
    for (const Transit& t : arrivals) {
      ++received;
      shard.slots().give(t.slot);
    }
    Ps at = std::max(begin, to_ps(link_.free_at()));
    for (; left_ > 0 && at < end; at = to_ps(link_.free_at())) send(shard, at);
    return left_ > 0 ? at : kNeverPs;
  }
  std::uint64_t received = 0;

 private:
  template <class Shard>
  void send(Shard& shard, Ps at) {
    --left_;
    const std::uint32_t slot = shard.slots().take();
    Cargo& c = *new (&shard.slots()[slot]) Cargo;
    c.slot = slot;
    c.source = self_.value;
    c.bytes = 4200;
    const topo::UsidList list =
        topo_.usids(topo_.path(self_, to_, topo::Choice{0, random_.below(topo_.evs_per_plane()), 0}));
    for (std::size_t i = 0; i < list.count; ++i) c.usids[i] = list.usids[i].value;
    link_.offer(c, random_);
    const auto d = link_.poll(fabric_time(at), random_);
    shard.deliver(wire_.node, {to_ps(d.arrives), wire_.hop, slot});
  }

  const topo::Topology& topo_;
  fabric::Link link_;
  Wire wire_;
  topo::HostId self_, to_;
  std::uint32_t left_;
  Prng random_;
};

struct Model {
  using Slot = Cargo;
  std::vector<Source> hosts;
  std::vector<SwitchNode> switches;
  Ps run(Shard<Model>& shard, std::uint32_t node, Ps begin, Ps end, std::span<const Transit> arrivals) {
    if (node < hosts.size()) return hosts[node].run(shard, begin, end, arrivals);
    return switches[node - hosts.size()].run(shard, end, arrivals, [](std::uint64_t) {});
  }
  bool proceed(Ps) { return true; }
};

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int bench(int argc, char** argv) {
  if (argc < 7)
    return std::fprintf(stderr, "usage: fabric_bench HOSTS_PER_T0 T0S T1S GBPS FRAMES_PER_HOST THREADS\n"), 1;
  const auto arg = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
  topo::Spec spec;
  spec.hosts_per_t0 = arg(1), spec.t0 = arg(2), spec.t1 = arg(3);
  spec.host_link = spec.t0_t1 = {arg(4) * 1'000'000'000ull, 1000ns};
  const auto topology = topo::Topology::make(spec);
  if (!topology) return std::fprintf(stderr, "%s\n", topology.error().what.c_str()), 1;
  const topo::Topology& topo = *topology;
  const LinkPlan plan = plan_links(topo, {}, base_rtt(topo, 4200, 100));
  const auto to = derangement(topo.hosts(), 1);
  Model model;
  Layout layout;
  layout.shards = arg(6);
  layout.window = to_ps(Duration(1000));
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) {
    model.hosts.emplace_back(topo, plan, topo::HostId(h), topo::HostId(to[h]), arg(5));
    layout.shard_of.push_back(static_cast<std::uint8_t>(std::uint64_t{h} * layout.shards / topo.hosts()));
  }
  for (std::uint32_t s = 0; s < topo.switches(); ++s) {
    const topo::Node node = topo.switch_at(s);
    std::vector<Wire> wires;
    for (std::uint32_t p = 0; p < topo.ports(node); ++p) wires.push_back(wire_from(topo, {node, p}));
    model.switches.emplace_back(make_switch(topo, node, {}, plan), std::move(wires), s);
    layout.shard_of.push_back(
        static_cast<std::uint8_t>(std::uint64_t{node.index} * layout.shards / topo.switches(node.tier)));
  }
  Crew<Model> crew(model, layout);
  for (std::uint32_t h = 0; h < topo.hosts(); ++h) crew.shard_of(h).wake(h, 0);
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  crew.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::uint64_t received = 0, hops = 0;
  for (const Source& h : model.hosts) received += h.received;
  for (const SwitchNode& s : model.switches) hops += s.departures();
  const double cpu = cpu_seconds() - cpu_start;
  std::printf(
      "hosts %u: %.2f M frames, %.2f M hops of switches, wall %.2f s, CPU %.2f s: %.3f M frames and %.2f M "
      "hops per CPU second; %zu slots\n",
      topo.hosts(), static_cast<double>(received) / 1e6, static_cast<double>(hops) / 1e6, wall, cpu,
      static_cast<double>(received) / cpu / 1e6, static_cast<double>(hops) / cpu / 1e6,
      crew.slots().capacity());
  return 0;
}

}  // namespace
}  // namespace mrc::sim

int main(int argc, char** argv) { return mrc::sim::bench(argc, argv); }
