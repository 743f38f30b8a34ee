// A fabric as numbers: who is wired to whom, what everything is called, and which way an EV goes.
//
// A Topology is its Spec and a few products of it: some 200 bytes for 2 hosts or for 131,072 x 8 planes.
// Nothing is stored per link; every answer is arithmetic. It is a value, immutable, and safe to read from any
// thread. Arguments are REQUIRED to be in range (host < hosts(), plane < planes(), ...); what comes from
// outside, an EV, a uSID, an address or a name, is checked and answered with nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ipv6.h"
#include "base/result.h"
#include "topo/ev.h"
#include "topo/ids.h"
#include "topo/spec.h"
#include "topo/usid.h"

namespace mrc::topo {

/// The uSIDs of a path, first to be visited first; the last names the destination's downlink.
struct UsidList {
  std::array<Usid, kMaxUsids> usids{};
  std::uint8_t count = 0;
  bool operator==(const UsidList&) const = default;
};

/// Outer destination addresses in the order of use: `count` 1 is a plain carrier, 2 needs a one-segment SRH.
struct Carriers {
  std::array<Ipv6, 2> addresses{};
  std::uint8_t count = 0;
  bool operator==(const Carriers&) const = default;
};

class Topology {
 public:
  /// Refuses a fabric that can not be built or named, with a sentence that says what is wrong and what would
  /// fit.
  static Result<Topology> make(const Spec& spec);

  // How much there is of what.
  const Spec& spec() const { return spec_; }
  std::uint32_t planes() const { return spec_.planes; }
  std::uint32_t tiers() const { return spec_.tiers; }
  std::uint32_t hosts() const { return spec_.hosts; }
  std::uint32_t switches(Tier t) const { return per_plane_[static_cast<int>(t)]; }  // per plane
  std::uint32_t switches_per_plane() const {
    return switches(Tier::t0) + switches(Tier::t1) + switches(Tier::t2);
  }
  std::uint32_t switches() const { return planes() * switches_per_plane(); }
  std::uint32_t links_per_plane() const { return links_per_plane_; }
  std::uint32_t links() const { return planes() * links_per_plane_; }
  std::uint32_t ports(Node n) const;
  std::uint32_t downlinks(Node n) const;  // ports 0 .. downlinks-1 lead down; the rest lead up

  // Where a host stands.
  std::uint32_t t0_of(HostId h) const { return h.value / spec_.hosts_per_t0; }        // index in each plane
  std::uint32_t downlink_of(HostId h) const { return h.value % spec_.hosts_per_t0; }  // port of that T0
  std::uint32_t pod_of_t0(std::uint32_t t0) const { return t0 / spec_.t0; }
  std::optional<HostId> host_under(std::uint32_t t0, std::uint32_t downlink) const;

  // Switches in one row of numbers, 0 .. switches()-1: plane by plane, T0s, T1s, T2s.
  std::uint32_t switch_number(Node s) const;
  Node switch_at(std::uint32_t number) const;

  // Cables. Their numbers run plane by plane: host links by host, then T0-T1 by T0, then T1-T2 by T1.
  LinkId host_link(HostId h, Plane p) const { return LinkId(p * links_per_plane_ + h.value); }
  LinkId t0_t1_link(Plane p, std::uint32_t t0, std::uint32_t uplink0) const {
    return LinkId(p * links_per_plane_ + hosts() + t0 * spec_.t1 + uplink0);
  }
  LinkId t1_t2_link(Plane p, std::uint32_t t1, std::uint32_t uplink1) const {
    return LinkId(p * links_per_plane_ + first_t1_t2_ + t1 * spec_.t2 + uplink1);
  }
  LinkKind kind(LinkId l) const;
  Plane plane(LinkId l) const { return l.value / links_per_plane_; }
  Ends ends(LinkId l) const;
  /// The cable at a port; nothing at a downlink that has no host.
  std::optional<LinkId> link_at(Attachment a) const;
  std::optional<Attachment> peer(Attachment a) const;
  /// The hop that leaves a node by a port.
  std::optional<Hop> hop_from(Attachment a) const;
  Attachment sender(Hop h) const;
  Attachment receiver(Hop h) const;
  const LinkSpec& link_spec(LinkId l) const;

  // EV <-> choice <-> path <-> hops.
  int path_bits() const { return plane_bits_ + uplink0_bits_ + uplink1_bits_; }
  std::uint32_t evs_per_plane() const { return uplink0_count_ * uplink1_count_; }
  std::uint32_t evs() const { return planes() * evs_per_plane(); }
  Ev ev(const Choice& c) const;
  std::optional<Choice> choice(Ev ev) const;
  /// EVs in one row of numbers, 0 .. evs()-1.
  Ev ev_at(std::uint32_t number) const;
  /// How many different ways one plane offers these two: fewer than evs_per_plane() when they stand close
  /// together.
  std::uint32_t ways_per_plane(HostId source, HostId destination) const;
  Path path(HostId source, HostId destination, const Choice& c) const;
  std::optional<Path> path(HostId source, HostId destination, Ev ev) const;
  /// The path that these hops are, or nothing when they are none: not joined up, or not up and then down.
  std::optional<Path> path_of(std::span<const Hop> hops) const;

  // Which EVs a thing touches: of any two hosts, or of these two. A fault there hits exactly those.
  EvSet evs_through(LinkId l) const;
  EvSet evs_through(Node n) const;  // n is a switch
  EvSet evs_through(LinkId l, HostId source, HostId destination) const;
  EvSet evs_through(Node n, HostId source, HostId destination) const;

  // uSIDs and carriers.
  const UsidPlan& usid_plan() const { return usid_plan_; }
  Usid usid(Node n) const;  // n is a switch
  Usid usid(HostId h, Plane p) const;
  std::optional<Node> switch_named(Usid u) const;
  UsidList usids(const Path& p) const;
  /// From a host up to a switch and back to itself: what the mapper probes. A T1 needs uplink0, a T2 both.
  UsidList round_trip(HostId h, Tier to, const Choice& c) const;
  Carriers carriers(const UsidList& list) const;
  int usids_per_carrier() const { return (128 - spec_.locator.length) / 16; }
  /// The way that a carrier leads a packet from this host; nothing when it leaves the fabric or leads
  /// nowhere.
  std::optional<Path> path_of(HostId source, const Ipv6& carrier) const;

  // Addresses.
  Ipv6 address(HostId h, Plane p) const;               // of a NIC port: the inner header's
  Ipv6Prefix subnet(Plane p, std::uint32_t t0) const;  // the /64 of a T0's NIC ports
  Ipv6Prefix sid(Node n) const;                        // what a switch matches: locator + uSID
  Ipv6Prefix sid(HostId h, Plane p) const;  // what the last T0 routes down, and the host decapsulates
  Ipv6 link_local(Node n) const;            // the same on each of its ports: what a neighbour routes by
  Mac mac(Attachment a) const;              // locally administered; lets neighbours be known without asking
  struct NicPort {
    HostId host;
    Plane plane = 0;
    bool operator==(const NicPort&) const = default;
  };
  std::optional<NicPort> host_at(const Ipv6& address) const;

  // Names: h17, p0.t0.3, p0.t1.2; links h17-p0.t0.3, p0.t0.3-p0.t1.2; a link one way p0.t1.2>p0.t0.3.
  std::string name(Node n) const;
  std::string name(LinkId l) const;
  std::string name(Hop h) const;
  /// Of an interface, at most 15 characters: p0 on a host; d3, u1 on a switch.
  std::string port_name(Attachment a) const;
  std::optional<Node> find_node(std::string_view name) const;
  std::optional<LinkId> find_link(std::string_view name) const;
  std::optional<Hop> find_hop(std::string_view name) const;

 private:
  explicit Topology(const Spec& spec);
  Path path_within_t0(Path p) const;
  Path path_within_pod(Path p) const;
  Path path_across_pods(Path p) const;

  Spec spec_;
  UsidPlan usid_plan_;
  std::array<std::uint32_t, 4> per_plane_{};  // by Tier
  std::uint32_t links_per_plane_ = 0;
  std::uint32_t first_t1_t2_ = 0;  // within a plane
  std::uint32_t uplink0_count_ = 1;
  std::uint32_t uplink1_count_ = 1;
  int plane_bits_ = 0;
  int uplink0_bits_ = 0;
  int uplink1_bits_ = 0;
};

}  // namespace mrc::topo
