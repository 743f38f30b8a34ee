#include "sim/summary.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "sim/fluid.h"

namespace mrc::sim {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

LinkGroup group_of(const topo::Topology& topo, topo::Hop hop) {
  const bool up = hop.direction == topo::Direction::up;
  switch (topo.kind(hop.link)) {
    case topo::LinkKind::host_t0: return up ? LinkGroup::host_up : LinkGroup::to_host;
    case topo::LinkKind::t0_t1: return up ? LinkGroup::t0_up : LinkGroup::t1_down;
    case topo::LinkKind::t1_t2: break;
  }
  return up ? LinkGroup::t1_up : LinkGroup::t2_down;
}

void add(LinkUse& use, const fabric::Link& link, Ps end) {
  const fabric::LinkCounters& c = link.counters();
  ++use.links;
  use.packets += c.packets;
  use.bytes += c.bytes;
  use.marks += c.marks;
  use.trims += c.trims;
  use.drops += c.drops;
  use.losses += c.losses;
  const double part = use_of(link, end);
  use.use_mean += part;
  use.use_max = std::max(use.use_max, part);
  use.depth_max = std::max(use.depth_max, c.max_depth);
  use.depth_mean += c.max_depth;
}

void finish(LinkUse& use) {
  use.use_mean = ratio(use.use_mean, static_cast<double>(use.links));
  use.depth_mean = ratio(use.depth_mean, static_cast<double>(use.links));
}

void count_flows(World& world, const std::vector<Flow>& flows, Summary& s) {
  std::vector<double> completion, acknowledged, slowdown, rates;
  for (const Flow& f : flows) {
    ++s.flows;
    s.failed += f.failed;
    if (f.received == kNeverPs) {
      ++s.unfinished;
      continue;
    }
    const double took = microseconds(f.received - f.start);
    const double alone = microseconds(world.plan().alone(f.source, f.destination, f.bytes));
    completion.push_back(took);
    slowdown.push_back(took / alone);
    rates.push_back(static_cast<double>(f.bytes) / took);
    if (f.acknowledged != kNeverPs) acknowledged.push_back(microseconds(f.acknowledged - f.start));
    s.ideal_us_max = std::max(s.ideal_us_max, alone);
    s.end = std::max(s.end, f.received);
    s.payload_bytes += f.bytes;
  }
  s.completion_us = distribution(std::move(completion));
  s.acknowledged_us = distribution(std::move(acknowledged));
  s.slowdown = distribution(std::move(slowdown));
  s.max_over_ideal = ratio(s.completion_us.max, s.ideal_us_max);
  s.goodput_gbps = ratio(static_cast<double>(s.payload_bytes) * 8e-9, seconds(s.end));
  s.flow_fairness = fairness(rates);
}

void compare_with_fluid(World& world, const std::vector<Flow>& flows, Summary& s) {
  const FluidResult fluid = fluid_of(world, flows);
  std::vector<double> slowdown;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (flows[i].received == kNeverPs || fluid.took[i] == kNeverPs) continue;
    const double bound = microseconds(fluid.took[i]);
    s.bound_us_max = std::max(s.bound_us_max, bound);
    slowdown.push_back(microseconds(flows[i].received - flows[i].start) / bound);
  }
  s.slowdown_fair = distribution(std::move(slowdown));
  s.max_over_bound = ratio(s.completion_us.max, s.bound_us_max);
}

void count_links(World& world, Summary& s) {
  const topo::Topology& topo = world.topo();
  s.by_plane.resize(topo.planes());
  const Ps until = std::max(s.end, world.stopped_at());  // wires of a stopped run carried until then
  for (std::uint32_t i = 0; i < 2 * topo.links(); ++i) {
    const topo::Hop hop = topo::hop_at(i);
    const fabric::Link& link = world.link(hop);
    add(s.by_group[static_cast<std::size_t>(group_of(topo, hop))], link, until);
    add(s.by_plane[topo.plane(hop.link)], link, until);
  }
  for (LinkUse& use : s.by_group) {
    finish(use);
    s.hops += use.packets;
    s.trims += use.trims;
    s.marks += use.marks;
    s.drops += use.drops;
    s.losses += use.losses;
  }
  for (LinkUse& use : s.by_plane) finish(use);
}

void count_qps(World& world, Summary& s) {
  std::vector<double> losses, repairs;
  for (Host h = 0; h < world.topo().hosts(); ++h) {
    for (const QpCount& c : world.qp_counts(h)) {
      ++s.qps;
      s.repeats += c.repeats;
      if (c.packets == 0) continue;
      losses.push_back(c.losses);
      repairs.push_back(c.repairs);
    }
  }
  s.qp_losses = distribution(std::move(losses));
  s.qp_repairs = distribution(std::move(repairs));
}

}  // namespace

Distribution distribution(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {values.size(),           sum / static_cast<double>(values.size()),
          quantile(values, 0.5),   quantile(values, 0.99),
          quantile(values, 0.999), values.back(),
          values.front()};
}

double use_of(const fabric::Link& link, Ps end) {
  const double could = static_cast<double>(link.settings().rate.bits_per_second()) / 8 * seconds(end);
  return std::min(ratio(static_cast<double>(link.counters().bytes), could), 1.0);
}

double fairness(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double v : values) sum += v, squares += v * v;
  return squares > 0 ? sum * sum / (squares * static_cast<double>(values.size())) : 1;
}

Cost cost_so_far() {
  static const auto start = std::chrono::steady_clock::now();
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto time = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {time(u.ru_utime) + time(u.ru_stime),
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<std::uint64_t>(u.ru_maxrss) * 1024};
}

Summary summarise(World& world, const std::vector<Flow>& flows, const Cost& cost) {
  Summary s;
  s.cost = cost;
  count_flows(world, flows, s);
  compare_with_fluid(world, flows, s);
  count_links(world, s);
  s.packets = world.total();
  count_qps(world, s);
  s.trims_per_packet =
      ratio(static_cast<double>(s.trims), static_cast<double>(s.packets.data_packets - s.packets.repairs));
  return s;
}

}  // namespace mrc::sim
