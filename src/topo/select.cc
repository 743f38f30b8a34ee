#include "topo/select.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/prng.h"

namespace mrc::topo {
namespace {

/// Walks 0 .. count-1 from a random start in steps of a random length that meets every number once.
struct Walk {
  std::uint32_t at, step, count;

  Walk(std::uint32_t n, Prng& random) : at(random.below(n)), step(1), count(n) {
    for (int tries = 0; tries < 8; ++tries) {
      const std::uint32_t candidate = 1 + random.below(n);
      if (std::gcd(candidate, n) == 1) step = candidate;
    }
  }
  std::uint32_t next() {
    const std::uint32_t result = at;
    at = static_cast<std::uint32_t>((std::uint64_t{at} + step) % count);
    return result;
  }
};

}  // namespace

std::vector<Choice> select_choices(const Topology& topo, HostId source, HostId destination,
                                   std::uint32_t per_plane, std::uint64_t seed) {
  const std::uint32_t ways = topo.ways_per_plane(source, destination);
  const std::uint32_t uplinks1 = ways == topo.evs_per_plane() ? std::max(topo.spec().t2, 1u) : 1;
  Prng random(seed ^ (std::uint64_t{source.value} << 32 | destination.value));
  std::vector<Walk> walks;
  for (Plane p = 0; p < topo.planes(); ++p) walks.emplace_back(ways, random);

  std::vector<Choice> out;
  const std::uint32_t each = std::min(per_plane, ways);
  for (std::uint32_t i = 0; i < each; ++i) {
    for (Plane p = 0; p < topo.planes(); ++p) {
      const std::uint32_t way = walks[p].next();
      out.push_back({p, way / uplinks1, way % uplinks1});
    }
  }
  return out;
}

namespace {

Turns turns_of(std::span<const double> shares, double largest, std::uint32_t most) {
  Turns turns;
  std::uint32_t common = 0;
  for (const double share : shares) {
    const double exact = std::round(share / largest * most);
    turns.push_back(static_cast<std::uint8_t>(share > 0 ? std::max(1.0, exact) : 0));
    common = std::gcd(common, turns.back());
  }
  for (auto& t : turns) t = static_cast<std::uint8_t>(t / common);
  return turns;
}

}  // namespace

Turns turns_by_share(std::span<const double> shares, const std::function<bool(const Turns&)>& fit) {
  constexpr std::uint32_t kMost = 8;
  const double largest = *std::max_element(shares.begin(), shares.end());
  for (std::uint32_t most = kMost; largest > 0 && most > 1; most /= 2) {
    Turns turns = turns_of(shares, largest, most);
    if (fit(turns)) return turns;
  }
  return Turns(shares.size(), 1);
}

std::vector<Choice> repeat_by_speed(const std::vector<Choice>& choices, std::span<const SlowEvs> slow) {
  constexpr std::uint32_t kMostEvs = 1024;  // of a profile
  std::vector<double> shares;
  for (const Choice& c : choices) {
    double& share = shares.emplace_back(1);
    for (const SlowEvs& s : slow) share = s.evs.contains(c) ? std::min(share, s.part) : share;
  }
  const Turns turns = turns_by_share(
      shares, [](const Turns& t) { return std::accumulate(t.begin(), t.end(), 0u) <= kMostEvs; });
  std::vector<Choice> out;
  for (std::size_t i = 0; i < choices.size(); ++i) out.insert(out.end(), turns[i], choices[i]);
  return out;
}

}  // namespace mrc::topo
