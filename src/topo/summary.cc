#include "topo/summary.h"

#include <algorithm>
#include <cstdio>

namespace mrc::topo {
namespace {

std::uint64_t rate_of(const LinkSpec& l, std::uint64_t count) { return l.bits_per_second * count; }

/// Cable ends in units of the NIC's whole rate.
double optics_of(const Topology& topo, std::uint64_t nic_rate) {
  const Spec& s = topo.spec();
  const std::uint64_t t0_t1 = std::uint64_t{topo.switches(Tier::t0)} * s.t1;
  const std::uint64_t t1_t2 = std::uint64_t{topo.switches(Tier::t1)} * s.t2;
  const double rate = static_cast<double>(rate_of(s.host_link, topo.hosts())) +
                      static_cast<double>(rate_of(s.t0_t1, t0_t1)) +
                      static_cast<double>(rate_of(s.t1_t2, t1_t2));
  return 2 * topo.planes() * rate / static_cast<double>(nic_rate);
}

/// A single pod has no use for its T2s.
bool crosses_t2(const Spec& s) { return s.tiers == 3 && s.pods > 1; }

/// Down over up where that is worst: a T0's, or, between pods, that with what its T1s add.
double oversubscription(const Spec& s) {
  if (s.tiers == 1) return 1;
  const auto ratio = [](std::uint64_t down, std::uint64_t up) { return double(down) / double(up); };
  const double t0 = ratio(rate_of(s.host_link, s.hosts_per_t0), rate_of(s.t0_t1, s.t1));
  if (!crosses_t2(s)) return t0;
  const double pod = ratio(rate_of(s.host_link, std::uint64_t{s.hosts_per_t0} * s.t0),
                           rate_of(s.t1_t2, std::uint64_t{s.t1} * s.t2));
  return std::max(t0, pod);
}

Duration base_rtt(const Topology& topo) {
  const Spec& s = topo.spec();
  Duration one_way = 2 * s.host_link.delay + s.switch_delay;
  if (s.tiers >= 2) one_way += 2 * s.t0_t1.delay + 2 * s.switch_delay;
  if (crosses_t2(s)) one_way += 2 * s.t1_t2.delay + 2 * s.switch_delay;
  return 2 * one_way;
}

std::uint64_t bisection(const Topology& topo) {
  const Spec& s = topo.spec();
  const std::uint64_t hosts = rate_of(s.host_link, topo.hosts() / 2);
  if (s.tiers == 1) return topo.planes() * hosts;
  const std::uint64_t above_t0 = rate_of(s.t0_t1, std::uint64_t{topo.switches(Tier::t0)} * s.t1) / 2;
  const std::uint64_t above_t1 = rate_of(s.t1_t2, std::uint64_t{topo.switches(Tier::t1)} * s.t2) / 2;
  return topo.planes() * std::min({hosts, above_t0, crosses_t2(s) ? above_t1 : above_t0});
}

std::string decimal(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string percent(double share) { return decimal(share * 100, "%.3g") + " %"; }

Comparison count(const char* what, double a, double b) {
  return {what, decimal(a, "%.0f"), decimal(b, "%.0f"), b == 0 ? 0 : a / b};
}
Comparison per_host(const char* what, double a, double b, const Summary& of_a, const Summary& of_b) {
  const double x = a / of_a.hosts, y = b / of_b.hosts;
  return {what, decimal(x, "%.4f"), decimal(y, "%.4f"), x / y};
}
Comparison share(const char* what, double a, double b) { return {what, percent(a), percent(b), 0}; }

}  // namespace

Summary summarize(const Topology& topo) {
  const Spec& s = topo.spec();
  Summary out;
  out.hosts = topo.hosts();
  out.planes = topo.planes();
  out.tiers = topo.tiers();
  out.switches = topo.switches();
  out.links = topo.links();
  out.nic_bits_per_second = rate_of(s.host_link, s.planes);
  out.optics = optics_of(topo, out.nic_bits_per_second);
  out.longest_path = 2 * s.tiers - 1;
  out.hosts_one_switch_away = std::min(s.hosts_per_t0, s.hosts);
  out.radix = std::max({s.hosts_per_t0 + s.t1, s.tiers >= 2 ? s.t0 + s.t2 : 0, s.tiers == 3 ? s.pods : 0});
  out.bisection_bits_per_second = bisection(topo);
  out.oversubscription = oversubscription(s);
  out.ways = topo.planes() * topo.ways_per_plane(HostId(0), HostId(topo.hosts() - 1));
  out.base_rtt = base_rtt(topo);
  out.lost_t0_t1_link = s.tiers == 1 ? 0 : 1.0 / s.t1;
  out.lost_nic_port = out.lost_t0 = 1.0 / s.planes;
  out.lost_t1 = s.tiers == 1 ? 0 : 1.0 / s.t1 / s.planes;
  return out;
}

Spec full_two_tiers(std::uint32_t radix, std::uint32_t planes, std::uint64_t nic_bits_per_second) {
  const std::uint32_t ports = radix * planes;
  Spec s{
      .planes = planes, .tiers = 2, .t0 = ports, .t1 = ports / 2, .hosts_per_t0 = ports / 2, .radix = ports};
  s.host_link.bits_per_second = s.t0_t1.bits_per_second = nic_bits_per_second / planes;
  return s;
}

Spec full_three_tiers(std::uint32_t radix, std::uint64_t nic_bits_per_second) {
  const std::uint32_t half = radix / 2;
  Spec s{.planes = 1,
         .tiers = 3,
         .pods = radix,
         .t0 = half,
         .t1 = half,
         .t2 = half,
         .hosts_per_t0 = half,
         .radix = radix};
  s.host_link.bits_per_second = s.t0_t1.bits_per_second = s.t1_t2.bits_per_second = nic_bits_per_second;
  return s;
}

// MRC-FAB-006: planes against tiers, line by line.
std::vector<Comparison> compare(const Summary& a, const Summary& b) {
  return {
      count("planes", a.planes, b.planes),
      count("tiers", a.tiers, b.tiers),
      count("hosts", a.hosts, b.hosts),
      count("switches", static_cast<double>(a.switches), static_cast<double>(b.switches)),
      per_host("switches per host", static_cast<double>(a.switches), static_cast<double>(b.switches), a, b),
      per_host("optics per host, of the NIC's rate", a.optics, b.optics, a, b),
      count("switches on the longest path", a.longest_path, b.longest_path),
      count("hosts one switch away", a.hosts_one_switch_away, b.hosts_one_switch_away),
      count("ways between two far hosts", a.ways, b.ways),
      share("lost T0-T1 link costs its T0, of its plane's uplinks", a.lost_t0_t1_link, b.lost_t0_t1_link),
      share("lost NIC port or link costs its host", a.lost_nic_port, b.lost_nic_port),
      share("lost T0 costs the hosts below it", a.lost_t0, b.lost_t0),
      share("lost T1 costs the T0s below it", a.lost_t1, b.lost_t1),
  };
}

}  // namespace mrc::topo
