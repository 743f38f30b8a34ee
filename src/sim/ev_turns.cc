#include "sim/ev_turns.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace mrc::sim {
namespace {

using Speeds = std::unordered_map<std::uint32_t, double>;  // by hop; others are at their full speed

Speeds speeds_at_start(std::span<const Stroke> strokes) {
  Speeds speeds;
  for (const Stroke& s : strokes) {
    if (s.when == 0 && s.what == Stroke::What::rate) speeds[s.hop.index()] = s.amount;
    if (s.when == 0 && s.what == Stroke::What::down) speeds[s.hop.index()] = 0;
  }
  return speeds;
}

double slowest_hop(const topo::Path& path, const Speeds& speeds) {
  double least = 1;
  for (int i = 0; i < path.hop_count(); ++i) {
    const auto found = speeds.find(path.hops[static_cast<std::size_t>(i)].index());
    if (found != speeds.end()) least = std::min(least, found->second);
  }
  return least;
}

constexpr std::uint32_t kDestinations = 64;  // looked at, evenly over the fabric: enough for an average

/// What an EV's paths carry on average, of a path at full speed.
std::vector<double> shares(const topo::Topology& topo, const Speeds& speeds, std::uint32_t t0) {
  const topo::HostId from = *topo.host_under(t0, 0);
  const std::uint32_t t0s = t0s_with_hosts(topo);
  const std::uint32_t step = std::max(1u, t0s / kDestinations);
  std::vector<double> sums(topo.evs());
  std::uint32_t others = 0;
  for (std::uint32_t to = 0; to < t0s; to += step) {
    if (to == t0) continue;
    ++others;
    for (std::uint32_t e = 0; e < topo.evs(); ++e)
      sums[e] += slowest_hop(topo.path(from, *topo.host_under(to, 0), *topo.choice(topo.ev_at(e))), speeds);
  }
  for (double& s : sums) s = others == 0 ? 1 : s / others;
  return sums;
}

bool fits(const topo::Topology& topo, const topo::Turns& turns, std::uint32_t most_per_plane) {
  const std::uint32_t each = topo.evs_per_plane();
  for (std::uint32_t plane = 0; plane < topo.planes(); ++plane) {
    const auto first = turns.begin() + plane * each;
    if (std::accumulate(first, first + each, 0u) > most_per_plane) return false;
  }
  return true;
}

}  // namespace

topo::Turns ev_turns(const topo::Topology& topo, std::span<const Stroke> strokes, std::uint32_t t0,
                     std::uint32_t most_per_plane) {
  const std::vector<double> known = shares(topo, speeds_at_start(strokes), t0);
  return topo::turns_by_share(known,
                              [&](const topo::Turns& turns) { return fits(topo, turns, most_per_plane); });
}

}  // namespace mrc::sim
