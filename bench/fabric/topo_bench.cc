// Topology arithmetic at the published size: EV to links, to carrier and back, and the whole description.
#include <benchmark/benchmark.h>

#include "base/prng.h"
#include "topo/topo.h"

namespace mrc::topo {
namespace {

Spec published() {
  return {.planes = 8, .tiers = 2, .t0 = 512, .t1 = 256, .hosts_per_t0 = 256, .radix = 512};
}

struct Query {
  HostId source, destination;
  Ev ev;
};
std::vector<Query> queries(const Topology& topo) {
  Prng random(1);
  std::vector<Query> out(4096);
  for (Query& q : out) {
    q = {HostId(random.below(topo.hosts())), HostId(random.below(topo.hosts())),
         topo.ev_at(random.below(topo.evs()))};
  }
  return out;
}

void ev_to_links(benchmark::State& state) {
  const auto topo = *Topology::make(published());
  const auto all = queries(topo);
  std::size_t i = 0;
  for (auto _ : state) {
    const Query& q = all[i++ % all.size()];
    benchmark::DoNotOptimize(topo.path(q.source, q.destination, q.ev));
  }
}
BENCHMARK(ev_to_links);

void ev_to_carrier(benchmark::State& state) {
  const auto topo = *Topology::make(published());
  const auto all = queries(topo);
  std::size_t i = 0;
  for (auto _ : state) {
    const Query& q = all[i++ % all.size()];
    benchmark::DoNotOptimize(topo.carriers(topo.usids(*topo.path(q.source, q.destination, q.ev))));
  }
}
BENCHMARK(ev_to_carrier);

void links_to_ev(benchmark::State& state) {
  const auto topo = *Topology::make(published());
  std::vector<Path> paths;
  for (const Query& q : queries(topo)) paths.push_back(*topo.path(q.source, q.destination, q.ev));
  std::size_t i = 0;
  for (auto _ : state) {
    const Path& p = paths[i++ % paths.size()];
    benchmark::DoNotOptimize(topo.path_of(std::span(p.hops).first(static_cast<std::size_t>(p.hop_count()))));
  }
}
BENCHMARK(links_to_ev);

/// Every cable with both ends and every switch's uSID: what any description of the fabric walks through.
void whole_description(benchmark::State& state) {
  for (auto _ : state) {
    const auto topo = *Topology::make(published());
    std::uint64_t sum = 0;
    for (std::uint32_t l = 0; l < topo.links(); ++l) sum += topo.ends(LinkId(l)).upper.port;
    for (std::uint32_t s = 0; s < topo.switches(); ++s) sum += topo.usid(topo.switch_at(s)).value;
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(whole_description)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mrc::topo
