#include "sim/fault.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>

#include "base/prng.h"
#include "sim/text_input.h"

namespace mrc::sim {
namespace {

using topo::Direction;
using topo::Hop;
using topo::LinkId;

void both_ways(LinkId link, std::vector<Hop>& out) {
  out.push_back({link, Direction::up});
  out.push_back({link, Direction::down});
}

/// "p3" or "h17.p3": the number after a letter.
std::optional<std::uint32_t> numbered(std::string_view text, char letter) {
  if (text.empty() || text[0] != letter) return std::nullopt;
  const auto n = parse_number(text.substr(1));
  return n && *n < UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

std::optional<LinkId> nic_port_link(const topo::Topology& topo, std::string_view target) {
  const std::size_t dot = target.find('.');
  if (dot == target.npos) return std::nullopt;
  const auto host = numbered(target.substr(0, dot), 'h');
  const auto plane = numbered(target.substr(dot + 1), 'p');
  if (!host || !plane || *host >= topo.hosts() || *plane >= topo.planes()) return std::nullopt;
  return topo.host_link(topo::HostId(*host), *plane);
}

/// The directions of links that a target stands for; none when there is no such thing.
std::vector<Hop> hops_of(const topo::Topology& topo, const std::string& target) {
  std::vector<Hop> out;
  if (const auto hop = topo.find_hop(target)) return {*hop};
  if (const auto link = topo.find_link(target)) return both_ways(*link, out), out;
  if (const auto port = nic_port_link(topo, target)) return both_ways(*port, out), out;
  if (const auto plane = numbered(target, 'p'); plane && *plane < topo.planes()) {
    for (std::uint32_t l = 0; l < topo.links_per_plane(); ++l)
      both_ways(LinkId(*plane * topo.links_per_plane() + l), out);
    return out;
  }
  const auto node = topo.find_node(target);
  if (!node || node->tier == topo::Tier::host) return out;
  for (std::uint32_t p = 0; p < topo.ports(*node); ++p) {
    if (const auto link = topo.link_at({*node, p})) both_ways(*link, out);
  }
  return out;
}

std::string wrong_with(const Fault& f) {
  if (f.until <= f.at) return "ends before it begins; 'until' must be later than 'at'";
  if (f.times > 1 && f.every == 0) return "strikes several times at once; say how often with 'every'";
  if (f.times > 1 && f.until != kNeverPs && f.until - f.at >= f.every)
    return "strikes again before it is healed; make 'every' longer than it lasts";
  if (f.times > 1 && f.until == kNeverPs) return "strikes again without being healed; add 'until'";
  if (f.kind == FaultKind::lossy && !(f.amount > 0 && f.amount <= 1))
    return "needs a loss between 0 and 1 in 'amount'";
  if (f.kind == FaultKind::slow && !(f.amount > 0 && f.amount < 1))
    return "needs a part of the speed between 0 and 1 in 'amount'";
  return "";
}

}  // namespace

Result<std::vector<Spell>> plan_spells(const topo::Topology& topo, const std::vector<Fault>& faults) {
  std::vector<Spell> out;
  for (const Fault& f : faults) {
    if (const std::string wrong = wrong_with(f); !wrong.empty())
      return Error{EINVAL, "fault at '" + f.target + "' " + wrong};
    const std::vector<Hop> hops = hops_of(topo, f.target);
    if (hops.empty()) {
      return Error{EINVAL, "fault at '" + f.target + "', which this fabric does not have; name a link (" +
                               topo.name(LinkId(0)) + "), a direction (" +
                               topo.name(Hop{LinkId(0), Direction::down}) + "), a switch (" +
                               topo.name(topo.switch_at(0)) + "), a plane (p0) or a NIC port (h0.p0)"};
    }
    if (f.kind == FaultKind::one_way && hops.size() != 1)
      return Error{EINVAL, "one-way fault at '" + f.target + "', which has no direction; name one as " +
                               topo.name(hops[0])};
    if (static_cast<double>(out.size()) + static_cast<double>(f.times) * static_cast<double>(hops.size()) >
        kMostSpells)
      return Error{EINVAL, "fault at '" + f.target + "' strikes more than 5 million times; lower 'times'"};
    for (std::uint32_t n = 0; n < f.times; ++n) {
      const Ps later = n * f.every;
      for (const Hop hop : hops)
        out.push_back(
            {hop, f.kind, f.amount, f.at + later, f.until == kNeverPs ? kNeverPs : f.until + later});
    }
  }
  return out;
}

Result<std::vector<Spell>> random_spells(const topo::Topology& topo, const FaultRates& rates) {
  std::vector<Spell> out;
  Prng prng(rates.seed);
  const double hours = seconds(rates.over) / 3600;
  const double expected = (rates.flaps_per_link_hour + rates.failures_per_link_hour) * topo.links() * hours;
  if (2 * expected > kMostSpells)
    return Error{EINVAL, "random_faults would strike more than 2 million times; lower its rates or 'over'"};
  const auto draw = [&](double per_link_hour, Ps length) {
    // Over all links the time to the next event is exponential; which link it hits is uniform.
    const double rate = per_link_hour * topo.links();
    if (rate <= 0) return;
    for (double t = 0;;) {
      t += -std::log(1 - prng.unit()) / rate;
      if (t >= hours) return;
      const auto when = static_cast<Ps>(t * 3600 * static_cast<double>(kPsPerSecond));
      std::vector<Hop> hops;
      both_ways(LinkId(prng.below(topo.links())), hops);
      for (const Hop hop : hops)
        out.push_back({hop, FaultKind::down, 0, when, length > 0 ? when + length : kNeverPs});
    }
  };
  draw(rates.flaps_per_link_hour, std::max<Ps>(rates.flap_length, 1));
  draw(rates.failures_per_link_hour, 0);
  return out;
}

Result<std::vector<Stroke>> plan_faults(const topo::Topology& topo, const std::vector<Fault>& faults) {
  const auto spells = plan_spells(topo, faults);
  if (!spells) return spells.error();
  return strokes_of(*spells);
}

}  // namespace mrc::sim
