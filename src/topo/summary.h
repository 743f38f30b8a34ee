// What a fabric amounts to: sizes, bandwidths, and what each kind of loss costs. Numbers, from which tools
// make text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

struct Summary {
  std::uint32_t hosts = 0, planes = 0, tiers = 0;
  std::uint64_t switches = 0;
  std::uint64_t links = 0;
  double optics = 0;  // transceivers of the NIC's whole rate: two per cable, a plane's counts as its share
  std::uint32_t longest_path = 0;           // switches on it
  std::uint32_t hosts_one_switch_away = 0;  // under one T0, the host itself included
  std::uint32_t radix = 0;                  // ports of the largest switch
  std::uint64_t nic_bits_per_second = 0;    // all planes
  std::uint64_t bisection_bits_per_second =
      0;                        // what the tier above the T0s carries one way, of half the hosts' at most
  double oversubscription = 1;  // what hosts send over what the narrowest tier carries
  std::uint32_t ways = 0;       // different paths between two hosts far apart, all planes
  Duration base_rtt{0};         // propagation and switches, longest path, there and back

  // What is lost, as a share.
  double lost_t0_t1_link = 0;  // of its T0's uplinks in its plane
  double lost_nic_port = 0;    // of its host's bandwidth
  double lost_t0 = 0;          // of the bandwidth of the hosts below it
  double lost_t1 = 0;          // of the uplinks of the T0s below it, all planes
};

Summary summarize(const Topology& topo);

/// The largest two-tier fabric of `planes` planes, and the largest three-tier one of one plane, from switches
/// that have `radix` ports of the NIC's whole rate; in the first each port is split `planes` ways.
Spec full_two_tiers(std::uint32_t radix, std::uint32_t planes, std::uint64_t nic_bits_per_second);
Spec full_three_tiers(std::uint32_t radix, std::uint64_t nic_bits_per_second);

/// One line of a comparison, `a` and `b` as text. `ratio` is a's over b's where that says something, else 0.
struct Comparison {
  std::string what, a, b;
  double ratio = 0;
};
std::vector<Comparison> compare(const Summary& a, const Summary& b);

}  // namespace mrc::topo
