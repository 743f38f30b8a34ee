#include "sim/fluid.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sim/world.h"

namespace mrc::sim {
namespace {

constexpr double kNear = 1e-9;  // relative: shares and ends that differ by less are one

/// What flows share: a host's ports, or all links between a switch (of all planes) and the tier above.
class Capacities {
 public:
  Capacities(const topo::Topology& topo, const std::function<double(topo::Hop)>& rate)
      : topo_(topo),
        t0_(2 * topo.hosts()),
        pod_(t0_ + 2 * topo.switches(topo::Tier::t0)),
        bytes_per_s_(pod_ + 2 * topo.spec().pods) {
    for (std::uint32_t i = 0; i < 2 * topo.links(); ++i) {
      const topo::Hop hop = topo::hop_at(i);
      bytes_per_s_[resource(hop)] += rate(hop) / 8;
    }
  }

  struct Route {
    std::array<std::uint32_t, 6> at{};
    std::uint8_t count = 0;
    void add(std::uint32_t r) { at[count++] = r; }
    const std::uint32_t* begin() const { return at.data(); }
    const std::uint32_t* end() const { return at.data() + count; }
  };
  Route route(std::uint32_t a, std::uint32_t b) const {
    Route out;
    const std::uint32_t from = topo_.t0_of(topo::HostId(a)), to = topo_.t0_of(topo::HostId(b));
    out.add(2 * a);
    if (from != to) {
      const std::uint32_t pod_from = topo_.pod_of_t0(from), pod_to = topo_.pod_of_t0(to);
      out.add(t0_ + 2 * from);
      if (pod_from != pod_to) out.add(pod_ + 2 * pod_from), out.add(pod_ + 2 * pod_to + 1);
      out.add(t0_ + 2 * to + 1);
    }
    out.add(2 * b + 1);
    return out;
  }
  const std::vector<double>& all() const { return bytes_per_s_; }

 private:
  std::uint32_t resource(topo::Hop hop) const {
    const bool up = hop.direction == topo::Direction::up;
    const topo::Node lower = (up ? topo_.sender(hop) : topo_.receiver(hop)).node;
    const std::uint32_t down = up ? 0 : 1;
    switch (topo_.kind(hop.link)) {
      case topo::LinkKind::host_t0: return 2 * lower.index + down;
      case topo::LinkKind::t0_t1: return t0_ + 2 * lower.index + down;
      case topo::LinkKind::t1_t2: break;
    }
    return pod_ + 2 * (lower.index / topo_.spec().t1) + down;
  }

  const topo::Topology& topo_;
  std::uint32_t t0_, pod_;
  std::vector<double> bytes_per_s_;
};

struct Stream {
  Capacities::Route route;
  double left = 0;
  double rate = 0;
  std::uint32_t flow = 0;
  bool fixed = false;
};

/// Progressive filling: the resource with the least per flow fixes its flows; then the next one.
class Filling {
 public:
  explicit Filling(const std::vector<double>& capacities)
      : capacities_(capacities), left_(capacities.size()), users_(capacities.size()) {}

  std::uint64_t fill(std::vector<Stream>& streams) {
    std::uint64_t work = 0;
    used_.clear();
    for (Stream& s : streams) {
      s.fixed = false;
      for (const std::uint32_t r : s.route) {
        if (users_[r]++ == 0) used_.push_back(r), left_[r] = capacities_[r];
      }
    }
    for (std::size_t open = streams.size(); open > 0;) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::uint32_t r : used_) {
        if (users_[r] > 0) least = std::min(least, left_[r] / users_[r]);
      }
      work += used_.size() + streams.size();
      open -= fix(streams, least);
    }
    return work;
  }

 private:
  std::size_t fix(std::vector<Stream>& streams, double share) {
    tight_.assign(capacities_.size(), false);
    for (const std::uint32_t r : used_) {
      tight_[r] = users_[r] > 0 && left_[r] / users_[r] <= share * (1 + kNear);
    }
    std::size_t fixed = 0;
    for (Stream& s : streams) {
      if (s.fixed || std::none_of(s.route.begin(), s.route.end(), [&](std::uint32_t r) { return tight_[r]; }))
        continue;
      s.fixed = true;
      s.rate = share;
      ++fixed;
      for (const std::uint32_t r : s.route) left_[r] = std::max(left_[r] - share, 0.0), --users_[r];
    }
    return fixed;
  }

  const std::vector<double>& capacities_;
  std::vector<double> left_;
  std::vector<std::uint32_t> users_;
  std::vector<std::uint32_t> used_;
  std::vector<bool> tight_;
};

}  // namespace

FluidResult fluid(const topo::Topology& topo, const std::function<double(topo::Hop)>& rate,
                  std::span<const FluidFlow> flows, std::uint64_t most_work) {
  const Capacities capacities(topo, rate);
  Filling filling(capacities.all());
  FluidResult out{std::vector<Ps>(flows.size(), kNeverPs), true};
  std::vector<std::uint32_t> by_start(flows.size());
  std::iota(by_start.begin(), by_start.end(), 0u);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return flows[a].start < flows[b].start; });

  std::vector<Stream> active;
  double now = 0;  // seconds
  std::uint64_t work = 0;
  for (std::size_t next = 0; next < by_start.size() || !active.empty();) {
    if (active.empty()) now = std::max(now, seconds(flows[by_start[next]].start));
    for (; next < by_start.size() && seconds(flows[by_start[next]].start) <= now; ++next) {
      const FluidFlow& f = flows[by_start[next]];
      active.push_back({capacities.route(f.source, f.destination), f.bytes, 0, by_start[next], false});
    }
    out.exact = out.exact && work <= most_work;
    if (out.exact) {
      work += filling.fill(active);
    } else {
      for (Stream& s : active) s.rate = capacities.all()[s.route.at[0]];
    }
    std::erase_if(active, [](const Stream& s) { return s.rate <= 0; });  // no way: it never ends
    double step = next < by_start.size() ? seconds(flows[by_start[next]].start) - now
                                         : std::numeric_limits<double>::infinity();
    for (const Stream& s : active) step = std::min(step, s.left / s.rate);
    now += active.empty() ? 0 : step;
    for (Stream& s : active) {
      s.left -= s.rate * step;
      if (s.left > flows[s.flow].bytes * kNear) continue;
      s.left = 0;
      out.took[s.flow] = static_cast<Ps>((now - seconds(flows[s.flow].start)) * 1e12);
    }
    std::erase_if(active, [](const Stream& s) { return s.left == 0; });
  }
  return out;
}

FluidResult fluid_of(World& world, const std::vector<Flow>& flows) {
  std::vector<FluidFlow> streams;
  streams.reserve(flows.size());
  for (const Flow& f : flows)
    streams.push_back({f.source, f.destination, world.plan().wire_bytes(f.bytes), f.start});
  FluidResult result = fluid(
      world.topo(),
      [&](topo::Hop hop) {
        const fabric::Link& link = world.link(hop);
        const bool dead = link.state() != fabric::LinkState::up;
        return dead ? 0.0 : static_cast<double>(link.rate().bits_per_second());
      },
      streams);
  const topo::Spec& spec = world.topo().spec();
  const double nic = static_cast<double>(spec.planes * spec.host_link.bits_per_second) / 8;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (result.took[i] == kNeverPs) continue;
    // The way of the last byte, and what packets of one size cost a single message.
    const auto sending = static_cast<Ps>(streams[i].bytes / nic * 1e12);
    result.took[i] +=
        std::max<Ps>(world.plan().alone(flows[i].source, flows[i].destination, flows[i].bytes) - sending, 0);
  }
  return result;
}

}  // namespace mrc::sim
